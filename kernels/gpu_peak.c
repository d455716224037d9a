/* gpu_peak.c - a table of GPUs by name. */
#include "kernels/gpu_peak.h"

#include <ctype.h>
#include <string.h>

/* Peak rates in TFLOP/s of fp32, TF32 and bf16. The first row whose words occur in the GPU's name counts; "H100" alone
 * would match three models. */
static const struct {
    const char *words;
    double tera[PRECISIONS];
} known[] = {
    {"H100 80GB HBM3", {67, 494.5, 989}}, {"H100 PCIe", {51, 378, 756}}, {"H100 NVL", {60, 417.5, 835}},
    {"H200 NVL", {60, 417.5, 835}},       {"H200", {67, 494.5, 989}},    {"GH200", {67, 494.5, 989}},
    {"A100", {19.5, 156, 312}},           {"A30", {10.3, 82, 165}},      {"A10", {31.2, 62.5, 125}},
    {"A40", {37.4, 74.8, 149.7}},         {"L40S", {91.6, 183, 362}},    {"L4", {30.3, 60, 121}},
};

/* Tests whether a name, for example "NVIDIA A100-SXM4-80GB", contains `words`, one after another, as whole words. */
static int has_words(const char *name, const char *words)
{
    for (const char *at = strstr(name, words); at; at = strstr(at + 1, words))
        if ((at == name || !isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[strlen(words)]))
            return 1;
    return 0;
}

double gpu_peak(const char *name, enum precision precision)
{
    if (has_words(name, "MIG")) /* a MIG slice has only some of the GPU's units */
        return 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (has_words(name, known[i].words))
            return 1e12 * known[i].tera[precision];
    return 0;
}
