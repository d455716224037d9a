/* import.h - reads a user's model from files of PyTorch and Hugging Face: its tensors in the order in which their
 * gradients become final, and, from a trace of torch.profiler, what its training steps compute. */
#ifndef BENCH_IMPORT_IMPORT_H
#define BENCH_IMPORT_IMPORT_H

#include "base/files.h"
#include "results/step_profile.h"

/* The sizes of a model that ddpbench's own transformer can train: those of a Llama. */
struct imported_sizes {
    size_t layers, width, heads, ff, vocabulary, context;
};

struct imported {
    /* The tensors, each a matrix of its own, with number 0 the last to be final; and the steps of a trace. The first
     * forward ends when the last backward begins, so that a step with several micro-batches has one forward. Times
     * count from when the step begins to compute. No steps: the file has no times. */
    struct step_profile profile;
    int has_layers;            /* 1: tensor.layer is known, from names */
    double *seconds, *start;   /* [profile.steps] how long a step took; when, from its ProfilerStep, it began to
                                  compute: on a GPU, when its first kernel began */
    int on_gpu, rank, ranks;   /* of a trace: where it was taken; ranks 1: no all-reduce of several ranks is in it */
    size_t *bucket;            /* [buckets] elements of the gradient's all-reduces in a step, in order */
    int buckets;               /* 0: the file has none, or they do not divide the tensors */
    double *alone;             /* [profile.steps, buckets] how long each was the only one on the link; NULL: unknown */
    struct imported_sizes own; /* of config.json; layers 0: the model can only be replayed */
    char words[300];           /* what was read, such as "51 tensors, 4.19 M parameters, 16.0 MiB of gradients" */
    char assumed[1000];        /* sentences on what had to be assumed; "": nothing */
};

/* Reads a file, and recognises its kind by its content: a trace of torch.profiler or of ddpbench, plain or gzip, of
 * which the last IMPORT_STEPS steps count; a JSON list of [name, shape, requires_grad] of named_parameters; the
 * config.json of a model; or a safetensors file, or its index. After a comma, `files` may name a second file: a list,
 * which gives a trace names and sizes, and a safetensors file its order. Returns 0; or -1, reported after `option`, the
 * option that names the files (NULL: none). Release it in either case. */
enum { IMPORT_STEPS = 20 };
int import_read(struct imported *imported, const char *option, const char *files);
void import_destroy(struct imported *imported); /* a zeroed one is fine */

/* Splits FILE or FILE,LIST into paths, and returns their number; 0 if `files` is empty. A path of a file that exists
 * may have a comma in it. import_is_file returns whether the first names a file, and no directory. */
int import_paths(const char *files, char path[2][FILES_PATH]);
int import_is_file(const char *files);

/* Sets *typical, whose `ready` has room, to the median over the steps of each of its times. */
void import_typical(const struct imported *imported, struct step_compute *typical);

#endif
