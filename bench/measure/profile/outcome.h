/* outcome.h - what a profile keeps of its steps, and all that it found: figures, what they mean, and the summary. */
#ifndef BENCH_MEASURE_PROFILE_OUTCOME_H
#define BENCH_MEASURE_PROFILE_OUTCOME_H

#include "base/figures.h"
#include "ddp/links.h"
#include "profile/profile.h"
#include "trace/trace.h"

/* ---- which steps are captured: cycles as of torch.profiler.schedule, cut off by the end of the epochs ---- */

/* What happens in a step: nothing, tracing without keeping, tracing. */
enum capture_state { CAPTURE_WAIT, CAPTURE_WARMUP, CAPTURE_ACTIVE };
enum capture_state capture_state(const struct profile_options *options, size_t step);

/* The steps until the last cycle has ended, of the epochs' `steps`, which hold a cycle at least; and how many of the
 * first `steps` are active. */
size_t capture_steps(const struct profile_options *options, size_t steps);
size_t capture_active(const struct profile_options *options, size_t steps);

/* ---- the steps ---- */

struct capture {
    const struct profile_options *options;
    int row;                    /* the implementation */
    int n, room;                /* steps kept, and how many there is memory for */
    int full;                   /* the memory ended before the schedule did */
    int interrupted;            /* by SIGINT, SIGTERM or SIGHUP, of any rank */
    struct captured_step *step; /* [n] */
    struct step_times *times;   /* [n] */
    struct overlap *overlap;    /* [n] */
    size_t *parameters;         /* of each collective of the plan */
    struct alignment alignment;
    struct collectives collectives;   /* counts those of active epochs, or all if there are none, as all figures do */
    int in_range;                     /* cudaProfilerStart was called, and not yet Stop */
    struct gpu_facts *seen, *of_rank; /* GPUs that this process sees; [ranks] that each rank computes on */
    char missing[640]; /* what the traces lack of the GPU, in words; "": nothing, or nothing was asked for */
    struct trace trace;
};

/* Runs the steps with an implementation, then aligns the clocks, and writes the trace of this rank, the trace of all
 * ranks, and the telemetry, under that name. The spans stay in the run's timeline. Returns 0; or -1 on every rank, and
 * rank 0 has said why. Release with capture_destroy either way. From the first step on, SIGINT, SIGTERM and SIGHUP are
 * only noted: they end the capture, and what was captured can be written and summed up. */
int capture_run(struct capture *capture, struct run *run, int row, const char *name,
                const struct profile_options *options, struct results *results);
void capture_destroy(struct capture *capture); /* a zeroed one is fine */

/* The signals do again what they did before. Returns whether any rank has noted one. All ranks call. */
int capture_stop_noting(const struct job *job);

/* ---- their files: each trace appears when it is complete, and then replaces an older one ---- */

/* Writes <name>_rank_<r>_trace.json of this rank, if it writes one; with --trace-per-cycle one of each cycle,
 * into the directory cycle_<c>, from 1. Returns 0; or -1, reported. */
int trace_files_write(const struct profile_options *options, const struct results *results, const struct trace *trace);

struct trace_file {
    struct new_file file;
    struct watchdog *watchdog; /* of whoever writes it */
};

/* A trace of all ranks that write one: each sends its rows to rank 0, which concatenates them. */
struct merged_trace {
    struct trace_file out;
    int begun, failed; /* on rank 0 */
};

/* Adds a trace of every rank; the first one makes the file, all_ranks/<name>_all_ranks_trace.json. End with
 * merged_trace_end. Both return 0; or -1, reported, and then no file is left. All ranks call both. */
int merged_trace_add(struct merged_trace *merged, const struct profile_options *options, const char *directory,
                     const char *name, const struct job *job, const struct trace *trace);
int merged_trace_end(struct merged_trace *merged, const char *name);

/* Appends the steps to the metrics of this rank; computing is as of run_computing, overlap is [trace->steps], times
 * count from origin_ns, on_device as in struct comm. 0, or -1, reported. */
int captured_steps_write(struct results *results, const struct trace *trace, const struct lane *computing,
                         const struct overlap *overlap, int64_t origin_ns, int on_device);

/* ---- figures: phases, overlap and collectives of every rank; as defined in results/README.md ---- */

/* In seconds a step. */
struct phase_figure {
    const char *name;    /* of the phase, or "step" */
    char usual[32];      /* share of a well-tuned step, in words, and whether this is outside; "": none is usual */
    double mean, median; /* over the steps of all ranks (n = ranks x steps) */
    double least, most;  /* medians over the steps of the rank where that is so */
    double p95_steps;    /* over the steps of the rank where that is most */
    int least_rank, most_rank, p95_rank;
    double share; /* of the steps' time */
};

/* Collectives of one payload, over all ranks and steps. Times are medians in seconds over the calls for which they are
 * known; NAN where they are for none. */
struct collective_figure {
    size_t bytes, parameters; /* of one; parameters of the largest */
    size_t calls, waited;     /* of all ranks; those that are known to have waited */
    double queued, duration;  /* from the request to the post; from post to completion */
    double wait, transfer;    /* until the last rank posts, of ranks that are not the last; from then to completion */
    double algbw, busbw;      /* bytes/s of the median duration */
};

/* A bucket of the plan, in the order in which backward completes them. Seconds from the step's start, medians over the
 * steps of all ranks. */
struct bucket_figure {
    int bucket, tensors;
    size_t parameters;
    double ready, queued, posted,
        done; /* its last gradient is final; its collective is asked for, posted, complete; queued is NAN on GPUs */
    double exposed; /* of the collective's time: without computation beside it; NAN if unknown */
    double last;    /* share of the steps in which no collective was done later */
};

/* A part of the model. Seconds of a step, medians over the steps of all ranks; 0 where parts are not traced. */
struct layer_figure {
    char name[16];
    double forward, backward;
    size_t parameters, bytes; /* bytes that are reduced for it */
};

/* What arrays hold that a rank has allocated on its device, in bytes, gaps for alignment included. */
enum memory_kind {
    HOLDS_WEIGHTS, /* and their copy in the compute type */
    HOLDS_GRADIENTS,
    HOLDS_OPTIMIZER,   /* moments */
    HOLDS_ACTIVATIONS, /* what forward keeps for backward, with what puts it out */
    HOLDS_WORKSPACE,   /* gradients of activations, which one layer after the other uses, and a table of rotations */
    HOLDS_OTHER,       /* the weights that every block starts from, staged gradients, the batch, losses and norms */
    HOLDS
};
/* Of a part of the model; or of the operation whose result it is in a step, and "none" for what is none's. */
struct memory_figure {
    char name[28];
    size_t holds[HOLDS], total;
    double moved; /* bytes that the operation reads and writes in a step of a rank; 0 of a part */
    int order;    /* of rows that are as large */
};

struct rank_figure {
    int rank;
    struct overlap mean;                         /* of its steps */
    double offset, drift, drift_error, residual; /* of its clock: seconds; drifts in seconds a second */

    /* Its work: the phases of a step without gradient_sync and checkpoint, which wait for others; medians over its
     * steps. The fast ranks are those up to the lower quartile, of four or fewer ranks the fastest. */
    double late;            /* work beyond that of the fast ranks */
    double core_wait;       /* in which its training thread had no core; 0 on GPUs, where that is not watched */
    double late_in[PHASES]; /* of each phase without that wait: its lower quartile beyond that of the ranks that are
                               fast in it; 0 of those two */
    double saves; /* work of the latest rank beyond that of the next after this one: what a step would be shorter
                     if this rank, and those that are later, were as fast as the next; 0 of a fast rank */

    double ahead; /* how long before the others it completes large collectives (median), below 0 after them; NAN where
                     that is within twice the residual of the clocks */
};

/* The phase that a rank is latest in. */
enum step_phase rank_latest_in(const struct rank_figure *rank);

struct profile_figures {
    int first, steps;   /* slots that the figures are about, as in capture.collectives */
    const char *epochs; /* these are "active" or "warm-up" ones */
    int ranks;
    struct phase_figure phase[PHASES + 1]; /* the last: the step */
    struct rank_figure *rank;              /* [ranks] */
    struct overlap mean;                   /* of the steps of all ranks */
    struct collective_figure *collective;  /* [collectives], the largest payload first */
    int collectives;
    struct bucket_figure *bucket; /* [buckets]; none where nothing is reduced, as on one rank */
    int buckets;
    struct layer_figure *layer; /* [layers] in the order of forward: the embedding, the layers, the output */
    int layers;
    struct memory_figure *memory_of_part;      /* [layers + 1] the largest first, one of what all parts share */
    struct memory_figure *memory_of_operation; /* [memory_operations] likewise; as much in all */
    int memory_operations;
};

/* All ranks call and know the same afterwards. Release with profile_figures_destroy. */
void profile_figures_create(struct profile_figures *figures, const struct job *job, const struct capture *capture);

/* Adds the buckets of the plan that was captured, whose spans are still in the timeline; computing is as of
 * run_computing; host_is_ahead of the device, so that when it asked for a collective says nothing. All ranks call. */
void profile_figures_add_buckets(struct profile_figures *figures, const struct job *job, const struct capture *capture,
                                 const struct timeline *timeline, const struct plan *plan, const struct lane *computing,
                                 int host_is_ahead);

/* Adds the parts of the model, whose spans are still in the timeline; number_bytes of a gradient as it is sent, 0 where
 * nothing is. All ranks call. */
void profile_figures_add_layers(struct profile_figures *figures, const struct job *job, const struct timeline *timeline,
                                const struct model *model, size_t number_bytes);

/* Adds the memory of what was set up: the trainer's model, the trainer itself and the reducers [reducers]. After the
 * layers; totals are of the same steps. */
void profile_figures_add_memory(struct profile_figures *figures, const struct totals *totals,
                                const struct trainer *trainer, const struct reducer *reducer, int reducers);
void profile_figures_destroy(struct profile_figures *figures); /* zeroed ones are fine */

/* ---- controls: what a profile is compared with in interleaved rounds: the same without tracing, the same with its
 * collectives after backward, and `none` ---- */

struct controls {
    int row, untraced_row, after_backward_row, none_row; /* the profiled one and its controls; -1 if there is none */
    int communicates;                                    /* more than one rank, and the profiled row reduces */
    const struct attainable *attainable_of; /* the times of all rows' collectives alone, and of gradients */
    size_t others_staged; /* bytes that only other rows use, of all ranks on a GPU, or of a rank on the CPU */

    /* Of each round, [room]; without a unit: seconds a step of the profiled row, mean over ranks */
    size_t room;
    double *compute, *compute_none; /* in which operations ran; that of `none` */
    double *exposed, *overlap;      /* as of struct overlap */
    double *alone;                  /* of its collectives one after the other, slowest rank */
    double *slowdown;               /* duration of a collective during its steps / alone */
    double *peak;                   /* bytes in use meanwhile without others_staged, the rank where that is most */

    double comm_cpu_seconds, comm_seconds; /* of its blocks, as of struct block */

    /* What controls_compute finds, over `rounds` rounds, in seconds and ratios. What does not apply (one rank, nothing
     * to reduce, nothing that overlaps) has n = 0 and NAN. */
    size_t rounds;
    struct estimate step, step_untraced, step_after_backward, step_none, backward_none;
    struct estimate forward, backward, exposed_of_rounds, overlap_of_rounds, peak_bytes;
    double comm_thread_cores; /* used by rank 0's communication thread; NAN where there is none, or before a round */
    struct estimate comm_alone;
    struct estimate comm_slowdown;      /* duration of a collective / alone; waiting for a straggler is included */
    struct estimate saved;              /* step_after_backward - step */
    struct estimate overlap_efficiency; /* saved / min(comm_alone, backward_none), not clamped */
    struct estimate sync_cost;          /* step - step_none */
    struct estimate profiling_overhead; /* step traced / untraced; this and what follows are geometric means */
    struct estimate step_to_none;       /* step / step of none */
    struct estimate compute_slowdown;   /* compute / compute of none */
    struct estimate attainable, step_to_attainable;
};

/* Room for so many rounds of the captured one of the rows [n], whose reducers are [n]; `sharing` ranks are on a GPU, 1
 * on the CPU. `attainable` is of the same rows, and must outlive it. Release with controls_destroy. */
void controls_create(struct controls *controls, const struct implementation *row, const struct reducer *reducer, int n,
                     int captured, const struct attainable *attainable, int ranks, int sharing, size_t rounds);
void controls_destroy(struct controls *controls); /* zeroed ones are fine */

/* Whether a row is the profiled one or one of its controls; and whether it is one whose blocks say when gradients are
 * ready, or are followed by its collectives alone (attainable_measure). */
int controls_include(const struct controls *controls, int row);
int controls_measure_alone(const struct controls *controls, int row);

/* Takes a block of an included row with so many timed steps, its spans still in the timeline and its collectives
 * measured alone. All ranks call. */
void controls_add_block(struct controls *controls, const struct job *job, const struct timeline *timeline,
                        const struct block *block, int timed);

/* From the rounds that are complete. All ranks call. */
void controls_compute(struct controls *controls, const struct job *job, const struct measurements *measurements);

/* The part of it without ranks: efficiency over n rounds, of seconds step[n], after_backward[n], alone[n] and backward
 * of none[n]. */
struct estimate controls_efficiency(const double *step, const double *after_backward, const double *alone,
                                    const double *backward, size_t n);

/* ---- findings: whether communication was hidden, and where time could be saved ---- */

/* What was profiled, and on what. */
struct profile_facts {
    const char *label; /* of the implementation */
    const struct strategy *strategy;
    int buckets;                     /* of its plan */
    int ranks, hosts, machine_ranks; /* all; their hosts; those on rank 0's machine */
    int on_gpu, comm_on_device;      /* ranks compute on GPUs; communication is the device's own work (struct comm) */
    int threads;                     /* of a rank */
    int synthetic;                   /* the data are */
    double cores_per_rank;
    double tokens, flops; /* of a step: tokens of all ranks; of the model */
    size_t block_steps;   /* timed steps of a block */
    size_t memory_bytes;  /* of rank 0's GPU or machine; 0 if unknown */
    size_t peak_bytes;    /* the largest open_device_memory of a rank so far */
};

enum level { LEVEL_NOTE, LEVEL_WARNING, LEVEL_HIGH };
extern const char *const level_name[];

struct finding {
    const char *name;
    enum level level;
    double value, threshold; /* percent */
    double gain;             /* seconds that a step would be shorter without it, at most; NAN if unknown */
    char text[640];          /* the figure in words: of what, which ranks */
    const char *advice;
};

struct findings {
    const char *overlap; /* whether it happened: "yes", "no", "unclear" or "n/a" */
    char verdict[640];   /* the same in one line, and why if not */
    int n;
    struct finding finding[9]; /* of each name at most one; by level, then by gain */
};

/* Compares the figures with the thresholds. controls may have no round yet; links[facts->hosts] or NULL. */
void findings_create(struct findings *findings, const struct profile_facts *facts, const struct thresholds *thresholds,
                     const struct profile_figures *figures, const struct collectives *collectives,
                     const struct link_rates *links, const struct controls *controls);

/* ---- the summary ---- */

enum { SHOWN = 8 }; /* rows that are printed of what there may be many of, unless with --verbose */

struct profile {
    const struct profile_options *options;
    const struct command *command;
    int row;                         /* of the implementation */
    char name[IMPLEMENTATION_LABEL]; /* of its files: its label, with - for : */
    struct results results;
    struct profile_facts facts;
    struct capture capture;
    struct profile_figures figures; /* of the captured steps */
    struct totals totals;
    struct controls controls;
    struct findings findings;
    const struct link_rates *links; /* [facts.hosts]; NULL: not measured, on one host and where GPUs send themselves */
};

/* Adds each table to a summary (results_summary_create), with those that have a row a rank; the capture, verdict and
 * findings, as members and to the notes; every figure to a list. */
void profile_add_tables(const struct profile *profile, cJSON *summary);
void profile_add_rank_tables(const struct profile *profile, cJSON *summary);
void profile_add_findings(const struct profile *profile, cJSON *summary);
void profile_add_figures(const struct profile *profile, struct figure_list *list);

/* A result of the controls: a figure, NULL for one that is only shown, and a row of a table, without a meaning for one
 * that is not shown. An estimate whose median is NAN does not apply. */
struct control_row {
    const char *subject, *figure, *name, *meaning, *unit;
    struct estimate estimate;
    enum better better;
};
enum { CONTROLS = 16 };
void profile_controls(const struct profile *profile, struct control_row row[CONTROLS]);

/* Adds n profiles of one run side by side, from rounds that are complete: what was found of each, tables, and every
 * figure to a list. */
void profiles_add_comparison(const struct profile *profile, int n, const struct measurements *measurements,
                             cJSON *summary, struct figure_list *list);

#endif
