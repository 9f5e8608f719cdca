/* A table of mounts, see mountinfo.h. */
#include "mountinfo.h"

#include <string.h>

enum { FIRST_BYTES = 16 << 10, TEXT_BYTES_MAX = 64 << 20 };

void mount_table_free(struct mount_table *table)
{
	free(table->text);
	free(table->mounts);
	*table = (struct mount_table){ 0 };
}

/* "\040" and the like for blanks and backslashes, in place. */
static void unescape(char *text)
{
	char *to = text;

	for (const char *from = text; *from; to++) {
		bool octal = from[0] == '\\' && from[1] >= '0' &&
			     from[1] <= '3' && from[2] >= '0' &&
			     from[2] <= '7' && from[3] >= '0' && from[3] <= '7';

		if (!octal) {
			*to = *from++;
			continue;
		}
		*to = (char)((from[1] - '0') * 64 + (from[2] - '0') * 8 +
			     (from[3] - '0'));
		from += 4;
	}
	*to = '\0';
}

/* A number and what ends it, which is passed over; NULL: there is none. */
static char *parse_number(char *text, char after, unsigned *ret_number)
{
	char *end;

	*ret_number = (unsigned)strtoul(text, &end, 10);
	return end == text || *end != after ? NULL : end + 1;
}

/* "36 35 98:0 /root /point options…" */
static int parse_line(char *line, struct mount_entry *ret_mount)
{
	struct mount_entry mount = { 0 };
	char *root = line, *point;
	unsigned parent;

	root = parse_number(root, ' ', &mount.id);
	if (root)
		root = parse_number(root, ' ', &parent);
	if (root)
		root = parse_number(root, ':', &mount.major);
	if (root)
		root = parse_number(root, ' ', &mount.minor);
	if (!root)
		return -EBADMSG;
	point = root + strcspn(root, " ");
	if (*point != ' ')
		return -EBADMSG;
	*point++ = '\0';
	point[strcspn(point, " ")] = '\0';
	unescape(root);
	unescape(point);
	mount.root = root;
	mount.point = point;
	*ret_mount = mount;
	return 0;
}

static size_t count_lines(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += *text == '\n';
	return count;
}

int mount_table_parse(char *text, struct mount_table *ret_table)
{
	struct mount_table table = { .text = text };
	size_t lines = count_lines(text);
	int err = 0;

	table.mounts = calloc(lines + 1, sizeof(*table.mounts));
	if (!table.mounts)
		err = -ENOMEM;
	for (size_t i = 0; i < lines && !err; i++) {
		char *end = strchr(text, '\n');

		*end = '\0';
		err = parse_line(text, &table.mounts[table.count++]);
		text = end + 1;
	}
	if (err) {
		mount_table_free(&table);
		return err;
	}
	*ret_table = table;
	return 0;
}

/* Zero-terminated, to be freed; a read gives whole lines, as many as fit. */
static int read_whole(int fd, char **ret_text)
{
	size_t size = FIRST_BYTES, length = 0;
	AUTO_FREE char *text = NULL;
	ssize_t got = 1;
	char *larger;

	if (lseek(fd, 0, SEEK_SET))
		return -errno;
	text = malloc(size);
	while (text && got > 0 && size < TEXT_BYTES_MAX) {
		got = RETRY(read(fd, text + length, size - 1 - length));
		if (got < 0)
			return -errno;
		length += (size_t)got;
		if (got == 0 || length < size / 2)
			continue;
		size *= 2;
		larger = realloc(text, size);
		if (!larger)
			return -ENOMEM;
		text = larger;
	}
	if (!text)
		return -ENOMEM;
	text[length] = '\0';
	*ret_text = TAKE(text);
	return 0;
}

int mount_table_read(int fd, struct mount_table *ret_table)
{
	char *text;
	int err = read_whole(fd, &text);

	return err ? err : mount_table_parse(text, ret_table);
}

const struct mount_entry *mount_table_find(const struct mount_table *table,
					   unsigned id)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->mounts[i].id == id)
			return &table->mounts[i];
	return NULL;
}

const char *rest_below(const char *path, const char *base)
{
	size_t length = strcmp(base, "/") == 0 ? 0 : strlen(base);

	if (strncmp(path, base, length) != 0 ||
	    (path[length] != '/' && path[length] != '\0'))
		return NULL;
	/* "/" itself. */
	if (strcmp(path + length, "/") == 0)
		return "";
	return path + length;
}
