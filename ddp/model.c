/* model.c - allocates and releases the memory of a model. */
#include "ddp/model.h"

#include "kernels/error.h"

#include <stdlib.h>
#include <string.h>

void *model_read_weight(const struct model *model)
{
    return model->narrow_weight ? model->narrow_weight : model->weight;
}

void model_allocate(struct model *model, const struct device *device, float *gradient, void *read_weight)
{
    if (device->compute_bytes != model->compute_bytes)
        FATAL("the model was planned for a compute type of %zu bytes, but the device's has %zu", model->compute_bytes,
              device->compute_bytes);
    model->device = device;
    model->owns_read_weight = !read_weight;
    if (!read_weight)
        read_weight = device->allocate(model->arena * model->compute_bytes);
    if (model->compute_bytes < sizeof(float))
        model->narrow_weight = read_weight;
    model->weight = model->narrow_weight ? device->allocate(model->arena * sizeof(float)) : read_weight;
    model->owns_gradient = !gradient && !model->has_no_gradient;
    model->gradient = model->owns_gradient ? device->allocate(model->arena * sizeof(float)) : gradient;
    model->source->allocate(model);
}

void model_destroy(struct model *model)
{
    if (model->device) {
        if (model->narrow_weight)
            model->device->release(model->weight);
        if (model->owns_read_weight)
            model->device->release(model_read_weight(model));
        if (model->owns_gradient)
            model->device->release(model->gradient);
    }
    if (model->source)
        model->source->destroy(model);
    free(model->tensor);
    memset(model, 0, sizeof *model);
}

struct blas_products model_products(const struct model *model, int forward_only)
{
    struct blas_products products = {.N = model->sizes.batch * model->sizes.context, .forward_only = forward_only};
    products.weight = allocate((size_t)model->tensors, sizeof *products.weight);
    for (struct tensor *t = model->tensor + 1; t < model->tensor + model->tensors; t++) /* all but the embedding */
        if (t->joined && t->rows > 1)
            products.weight[products.n++] = (struct blas_weight){t->columns, tensor_matrix_rows(t)};
    return products;
}

void model_weights_changed(const struct model *model)
{
    if (model->narrow_weight)
        model->device->pack_bf16(model->narrow_weight, model->weight, model->arena);
}
