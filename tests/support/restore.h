/* restore.h - resumes training from a saved checkpoint. */
#ifndef TESTS_SUPPORT_RESTORE_H
#define TESTS_SUPPORT_RESTORE_H

#include "ddp/step.h"

/* Sets a trainer's weights, moments and step from a file; if the file is refused, changes nothing and returns -1. */
int restore_trainer(struct trainer *trainer, const char *from);

#endif
