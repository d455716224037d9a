/* test_exposition.c - the last sample of CPUs and GPUs as Prometheus text. */
#include "monitor/watch.h"

#include "base/text.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *text;
static FILE *out;

static void begin(void)
{
    static size_t length;
    free(text); /* of the one before */
    text = NULL;
    out = text_begin(&text, &length);
}

static int has(const char *part)
{
    return strstr(text, part) != NULL;
}

static void end(void)
{
    text_end(out);
}

START_TEST(cpus)
{
    struct cpu_sample s = {.length = 1, .job_cores = 1.5, .other_processes_cores = 0.25};
    s.now = (struct proc_counters){.mhz_mean = 2500, .job_resident = 3, .memory_available = NAN};
    begin();
    cpu_sample_print(&s, out);
    end();
    ck_assert(has("\nddpbench_job_cores 1.5\n"));
    ck_assert(has("\nddpbench_other_processes_cores 0.25\n"));
    ck_assert(has("\nddpbench_cpu_clock_hertz 2500000000\n"));
    ck_assert(has("\nddpbench_job_resident_bytes 3145728\n"));
    ck_assert(!has("memory_available"));
    s.length = 0; /* before the first sample */
    begin();
    cpu_sample_print(&s, out);
    end();
    ck_assert_str_eq(text, "");
}
END_TEST

START_TEST(gpus)
{
    struct gpu gpu[3] = {{.index = 0, .name = "NVIDIA \"X\"", .uuid = "GPU-0a", .samples = 4},
                         {.index = 1, .uuid = "GPU-1b", .samples = 0},
                         {.index = 2, .uuid = "GPU-2c", .samples = 1}};
    gpu[0].sample = (struct gpu_sample){97, 40, 1234, 81559, 350.5, 61, 1980, 2619, 0, 0};
    gpu[1].sample = (struct gpu_sample){11, 11, 11, 11, 11, 11, 11, 11, 0, 0};
    gpu[2].sample = (struct gpu_sample){5, NAN, NAN, NAN, NAN, 30, NAN, NAN, 0, 0};
    begin();
    gpu_samples_print(gpu, 3, "node\\7", out);
    end();
    ck_assert(has("# TYPE DCGM_FI_DEV_GPU_UTIL gauge\n"
                  "DCGM_FI_DEV_GPU_UTIL{gpu=\"0\",UUID=\"GPU-0a\",device=\"nvidia0\",modelName=\"NVIDIA \\\"X\\\"\","
                  "Hostname=\"node\\\\7\"} 97\n"
                  "DCGM_FI_DEV_GPU_UTIL{gpu=\"2\",UUID=\"GPU-2c\",device=\"nvidia2\",modelName=\"\","
                  "Hostname=\"node\\\\7\"} 5\n# HELP"));
    static const char *const values[] = {"DCGM_FI_DEV_FB_USED 1234",   "DCGM_FI_DEV_POWER_USAGE 350.5",
                                         "DCGM_FI_DEV_GPU_TEMP 61",    "DCGM_FI_DEV_SM_CLOCK 1980",
                                         "DCGM_FI_DEV_MEM_CLOCK 2619", "DCGM_FI_DEV_MEM_COPY_UTIL 40"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char name[60], line[160];
        double value;
        ck_assert_int_eq(sscanf(values[i], "%59s %lf", name, &value), 2);
        snprintf(line, sizeof line,
                 "\n%s{gpu=\"0\",UUID=\"GPU-0a\",device=\"nvidia0\",modelName=\"NVIDIA \\\"X\\\"\","
                 "Hostname=\"node\\\\7\"} %g\n",
                 name, value);
        ck_assert_msg(has(line), "no %s in %s", line, text);
    }
    ck_assert(!has("GPU-1b"));
    ck_assert(!has("nan") && !has("NaN"));
}
END_TEST

START_TEST(unknown_of_all_has_no_metric)
{
    struct gpu gpu = {.samples = 1, .sample = {NAN, NAN, NAN, NAN, NAN, NAN, NAN, NAN, 0, 0}};
    begin();
    gpu_samples_print(&gpu, 1, "h", out);
    end();
    ck_assert_str_eq(text, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("samples as text");
    TCase *tests = tcase_create("samples");
    tcase_add_test(tests, cpus);
    tcase_add_test(tests, gpus);
    tcase_add_test(tests, unknown_of_all_has_no_metric);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
