/* What lies in a folder that would come to stand at a protected place. */
#pragma once

#include "excerpt.h"

/*
 * One entry a line with its path below the folder, folders with a slash at
 * the end; a few levels and a few hundred entries, then "…". Links are listed
 * and not followed.
 */
void list_folder(int parent, const char *name, struct excerpt *excerpt);
