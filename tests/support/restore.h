/* restore.h - resumes training from a saved checkpoint. */
#ifndef TESTS_SUPPORT_RESTORE_H
#define TESTS_SUPPORT_RESTORE_H

#include "ddp/step.h"

/* Sets weights, moments and step of a trainer to those of a checkpoint. Returns 0; or -1, reported, without changes. */
int restore_trainer(struct trainer *trainer, const char *from);

#endif
