/* comm.c - what collectives and their parts are called. */
#include "comm.h"

const char *const comm_kind_name[COMM_KINDS] = {"all_reduce", "reduce_scatter", "all_gather", "broadcast"};
const char *const comm_dtype_name[COMM_DTYPES] = {"float", "double", "bf16", "int32"};
const char *const comm_op_name[COMM_OPS] = {"sum", "max", "avg"};
