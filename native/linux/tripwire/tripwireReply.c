/* Values for the kernel's FUSE, see tripwireService.h. */
#include <limits.h>
#include <string.h>

#include "tripwireService.h"

/* As in getdents64(2): no header has it. */
struct host_entry {
	uint64_t inode;
	int64_t offset;
	unsigned short length;
	unsigned char type;
	char name[];
};

void fill_attributes(const struct stat *status, struct fuse_attr *ret)
{
	*ret = (struct fuse_attr){
		.ino = status->st_ino,
		.size = (uint64_t)status->st_size,
		.blocks = (uint64_t)status->st_blocks,
		.atime = (uint64_t)status->st_atim.tv_sec,
		.mtime = (uint64_t)status->st_mtim.tv_sec,
		.ctime = (uint64_t)status->st_ctim.tv_sec,
		.atimensec = (uint32_t)status->st_atim.tv_nsec,
		.mtimensec = (uint32_t)status->st_mtim.tv_nsec,
		.ctimensec = (uint32_t)status->st_ctim.tv_nsec,
		.mode = status->st_mode,
		.nlink = (uint32_t)status->st_nlink,
		.uid = status->st_uid,
		.gid = status->st_gid,
		.blksize = (uint32_t)status->st_blksize,
	};
}

size_t pack_entry(const struct listed *entry, char *ret_packed, size_t size)
{
	size_t length = strnlen(entry->name, NAME_MAX);
	size_t before = entry->node ? sizeof(*entry->node) : 0;
	size_t needed = before + FUSE_DIRENT_ALIGN(FUSE_NAME_OFFSET + length);
	struct fuse_dirent head = {
		.ino = entry->inode,
		.off = entry->offset,
		.namelen = (uint32_t)length,
		.type = entry->type,
	};

	if (needed > size)
		return 0;
	memset(ret_packed, 0, needed);
	if (entry->node)
		memcpy(ret_packed, entry->node, before);
	memcpy(ret_packed + before, &head, FUSE_NAME_OFFSET);
	memcpy(ret_packed + before + FUSE_NAME_OFFSET, entry->name, length);
	return needed;
}

/* The shortest name takes 24 bytes there, and 32 or 160 here. */
size_t packable(bool with_nodes, size_t size)
{
	return with_nodes ? size / 7 : size / 4 * 3;
}

size_t pack_entries(const char *entries, size_t length, bool with_nodes,
		    char *ret_packed, size_t size)
{
	static const struct fuse_entry_out unknown;
	struct host_entry found;
	size_t packed = 0, one;

	for (size_t at = 0; at + sizeof(found) <= length; at += found.length) {
		struct listed entry;

		memcpy(&found, entries + at, sizeof(found));
		entry = (struct listed){
			.inode = found.inode,
			.offset = (uint64_t)found.offset,
			.type = found.type,
			.name = entries + at +
				offsetof(struct host_entry, name),
			.node = with_nodes ? &unknown : NULL,
		};
		one = pack_entry(&entry, ret_packed + packed, size - packed);
		if (one == 0 || found.length == 0)
			break;
		packed += one;
	}
	return packed;
}
