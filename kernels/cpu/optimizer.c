/* optimizer.c - the gradient's norm and one step of AdamW. */
#include "kernels/cpu/cpu.h"

#include <math.h>

CPU_CLONES void cpu_grad_norm(float *scalars, const float *g, size_t n, float max_norm)
{
    double partial[CPU_BLOCKS];
#pragma omp parallel for num_threads(cpu_threads)
    for (size_t b = 0; b < CPU_BLOCKS; b++) {
        size_t end = cpu_block_start(n, b + 1);
        double sum = 0.0;
#pragma omp simd reduction(+ : sum)
        for (size_t i = cpu_block_start(n, b); i < end; i++)
            sum += (double)g[i] * (double)g[i];
        partial[b] = sum;
    }
    double total = 0.0;
    for (size_t b = 0; b < CPU_BLOCKS; b++)
        total += partial[b];
    double norm = sqrt(total);
    scalars[SCALAR_GRAD_NORM] = (float)norm;
    if (max_norm > 0.0f)
        scalars[SCALAR_CLIP] = (float)fmin(1.0, (double)max_norm / (norm + 1e-6));
}

/* Makes one AdamW step. Factors common to all elements are computed once, in double, because 1 - beta^t loses digits in
 * float. */
CPU_CLONES void cpu_adamw(float *w, void *compute_w, float *m, float *v, const float *g, size_t n, const float *scalars,
                          const struct adamw *adamw)
{
    (void)compute_w; /* the compute type is fp32, so layers read w itself */
    double lr = (double)scalars[SCALAR_LEARNING_RATE], t = (double)scalars[SCALAR_STEP];
    float clip = scalars[SCALAR_CLIP], epsilon = adamw->epsilon;
    float beta1 = adamw->beta1, rest1 = (float)(1.0 - (double)beta1);
    float beta2 = adamw->beta2, rest2 = (float)(1.0 - (double)beta2);
    float decay = (float)(1.0 - lr * (double)adamw->weight_decay);
    float rate = (float)(lr / (1.0 - pow((double)beta1, t)));
    float root = (float)(1.0 / sqrt(1.0 - pow((double)beta2, t)));
#pragma omp parallel for simd num_threads(cpu_threads)
    for (size_t i = 0; i < n; i++) {
        float G = g[i] * clip;
        float m_new = beta1 * m[i] + rest1 * G;
        float v_new = beta2 * v[i] + rest2 * (G * G);
        m[i] = m_new;
        v[i] = v_new;
        w[i] = w[i] * decay - rate * m_new / (sqrtf(v_new) * root + epsilon);
    }
}
