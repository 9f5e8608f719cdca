/*
 * Compares a file's name with a name of ours as loosely as any file system
 * might: a name that reaches `.git` somewhere counts as `.git` everywhere.
 * Too many names are protected on a file system that tells cases apart, and
 * none too few on one that does not.
 */
#pragma once

#include "../../common/cordon.h"

enum { NAME_BYTES_MAX = 256 }; /* NAME_MAX of Linux and its zero */

/*
 * The folded form of one component: case folded as ext4 and f2fs do in a
 * casefold(5) folder (as far as the result is ASCII; what they ignore is left
 * out), without the dots and blanks at its end that vfat drops. Other bytes
 * stay as they are. Longer names than a file can have are cut.
 */
void fold_name(const char *name, size_t length, char ret[NAME_BYTES_MAX]);

/*
 * Might be the short name that vfat and ntfs give to something else, "GIT~1":
 * it has a tilde with a digit after it.
 */
bool is_short_name(const char *folded);
