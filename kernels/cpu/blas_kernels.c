/* blas_kernels.c - finds out which kernels the BLAS uses, and corrects OpenBLAS's choice. */
#include "kernels/blas.h"
#include "kernels/cpu/cpu.h"
#include "kernels/reexec.h"

#include <cblas.h>
#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>

/* The environment variable that hands OpenBLAS's own choice to the next execution of the program. */
static const char replaced_variable[] = "DDPBENCH_OPENBLAS_REPLACED";
static const char choice_variable[] = "OPENBLAS_CORETYPE";

/* ---- the family for a CPU ---- */

/* OpenBLAS's names of CPU families, by the vectors that their kernels use. */
enum vectors { UNKNOWN, SSE, AVX, AVX2, AVX512, NEON, SVE };

static const struct {
    enum vectors vectors;
    const char *families;
} known[] = {
    {SSE, " katmai coppermine northwood prescott banias atom core2 penryn dunnington nehalem athlon opteron "
          "opteron_sse3 barcelona bobcat nano "},
    {AVX, " sandybridge bulldozer piledriver steamroller "},
    {AVX2, " haswell zen excavator "},
    {AVX512, " skylakex cooperlake sapphirerapids "},
    {NEON, " armv8 cortexa53 cortexa55 cortexa57 cortexa72 cortexa73 falkor thunderx thunderx2t99 thunderx3t110 "
           "tsv110 emag8180 neoversen1 "},
    {SVE, " armv8sve neoversev1 neoversen2 neoversev2 a64fx "},
};

/* Tests whether a list of words separated by spaces contains the word. */
static int has_word(const char *list, const char *word)
{
    size_t length = strlen(word);
    for (const char *at = list; length && (at = strcasestr(at, word)); at++)
        if ((at == list || isspace((unsigned char)at[-1])) && (!at[length] || isspace((unsigned char)at[length])))
            return 1;
    return 0;
}

static enum vectors vectors_of_family(const char *family)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (has_word(known[i].families, family))
            return known[i].vectors;
    return UNKNOWN;
}

static enum vectors vectors_of_cpu(const char *features, long sve_bytes)
{
    const long neon_bytes = 16;
    if (has_word(features, "asimd"))
        return sve_bytes > neon_bytes ? SVE : NEON;
    if (has_word(features, "avx512f") && has_word(features, "avx512dq") && has_word(features, "avx512bw") &&
        has_word(features, "avx512vl"))
        return AVX512;
    if (has_word(features, "avx2") && has_word(features, "fma"))
        return AVX2;
    return has_word(features, "avx") ? AVX : SSE;
}

const char *blas_better_kernels(const char *kernels, const char *features, long sve_bytes)
{
    static const char *const best[] = {
        [AVX] = "Sandybridge", [AVX2] = "Haswell", [AVX512] = "SkylakeX", [SVE] = "ARMV8SVE"};
    enum vectors has = vectors_of_cpu(features, sve_bytes), uses = vectors_of_family(kernels);
    return uses != UNKNOWN && (uses < NEON) == (has < NEON) && uses < has ? best[has] : NULL;
}

const char *blas_better_kernels_here(const char *kernels)
{
    char line[8192] = "";
    int found = 0;
    FILE *file = fopen("/proc/cpuinfo", "r");
    while (file && !found && fgets(line, sizeof line, file))
        found = !strncmp(line, "flags", 5) || !strncmp(line, "Features", 8);
    if (file)
        fclose(file);
    const char *features = found ? strchr(line, ':') : NULL;
    int sve = prctl(PR_SVE_GET_VL);
    return features ? blas_better_kernels(kernels, features + 1, sve > 0 ? sve & PR_SVE_VL_LEN_MASK : 0) : NULL;
}

/* ---- facts reported by the library ---- */

/* Calls a function of the library that returns text; "" if the library lacks it. */
static const char *text_by(const char *name)
{
    const char *(*function)(void);
    return cpu_blas_look_up(name, &function, sizeof function) ? function() : "";
}

/* Returns OpenBLAS's description, such as "OpenBLAS 0.3.21 DYNAMIC_ARCH NO_AFFINITY SkylakeX MAX_THREADS=64"; "" for
 * other libraries. */
static const char *openblas_build(void)
{
    return text_by("openblas_get_config");
}

/* Returns the name of BLIS's kernel family, from the number that BLIS returns for it. */
static const char *blis_kernels(void)
{
    int (*number)(void);
    const char *(*name)(int);
    return cpu_blas_look_up("bli_arch_query_id", &number, sizeof number) &&
                   cpu_blas_look_up("bli_arch_string", &name, sizeof name)
               ? name(number())
               : "";
}

/* Stores the file name of the library, including the version at its end. */
static void name_file(char *name, size_t capacity)
{
    Dl_info at;
    void *address;
    __typeof__(cblas_sgemm) *product = cblas_sgemm; /* the argument types differ between libraries */
    memcpy(&address, &product, sizeof address);
    char *path = dladdr(address, &at) ? realpath(at.dli_fname, NULL) : NULL;
    snprintf(name, capacity, "%s", path ? strrchr(path, '/') + 1 : "");
    free(path);
}

void blas_describe(struct blas_facts *facts)
{
    if (cpu_onednn_describe(facts))
        return;
    char mkl[200] = "";
    void (*mkl_words)(char *, int);
    const char *replaced = getenv(replaced_variable), *blis = text_by("bli_info_get_version_str");
    const char *build = openblas_build();
    *facts = (struct blas_facts){0};
    if (cpu_blas_look_up("MKL_Get_Version_String", &mkl_words, sizeof mkl_words))
        mkl_words(mkl, (int)sizeof mkl - 1);
    if (*build) /* keeps the first two words */
        snprintf(facts->library, sizeof facts->library, "%.*s",
                 (int)(strcspn(build, " ") + 1 + strcspn(build + strcspn(build, " ") + 1, " ")), build);
    else if (*blis)
        snprintf(facts->library, sizeof facts->library, "BLIS %s", blis);
    else if (*mkl)
        snprintf(facts->library, sizeof facts->library, "%.63s", mkl);
    else
        name_file(facts->library, sizeof facts->library);
    snprintf(facts->kernels, sizeof facts->kernels, "%s", *build ? text_by("openblas_get_corename") : blis_kernels());
    /* the names are equal if OpenBLAS does not know the requested family */
    if (replaced && strcasecmp(replaced, facts->kernels))
        snprintf(facts->replaced, sizeof facts->replaced, "%s", replaced);
}

/* ---- choosing kernels ---- */

void blas_choose_kernels(void)
{
    const char *kernels = text_by("openblas_get_corename");
    if (getenv(choice_variable) || !has_word(openblas_build(), "DYNAMIC_ARCH"))
        return;
    const char *better = blas_better_kernels_here(kernels);
    if (!better)
        return;
    reexec_setenv(choice_variable, better);
    reexec_setenv(replaced_variable, kernels);
}
