/* version.c - which program this is. */
#include "base/version.h"

const char *version_text(void)
{
    return DDPBENCH_VERSION;
}
