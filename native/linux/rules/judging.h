/*
 * One end of a change while it is judged; between rules.c, which puts the
 * judgement together, and gitJudge.c, which judges parts of git directories.
 */
#pragma once

#include "gitContent.h"
#include "gitLayout.h"
#include "rules.h"

/* One end, while it is judged. */
struct judging {
	const struct places *places;
	const struct change *change;
	const struct end *end;

	enum verdict verdict;
	bool is_gits;		    /* a git directory is touched */
	char place[PATH_BYTES_MAX]; /* VERDICT_ASK: what is protected */
	struct excerpt excerpt;

	struct content content; /* of what is put, once it was needed */
	int content_err;	/* 1: not read yet */
	bool keeps_content;	/* it must be put in place as it was read */
	bool must_be_alone;	/* the names must not change meanwhile */
};

/* Type of what stands there. 0: nothing does, or it cannot be known. */
mode_t type_of(int parent, const char *name);

/* Reads what is put, once; NULL when it cannot be read. */
const struct content *incoming_content(struct judging *judging);

/* Takes the stronger verdict; the place is the path's first components. */
void raise_verdict(struct judging *judging, enum verdict verdict, size_t depth);

/* A git_visitor: judges the end as that part of that git directory. */
void judge_spot(void *judging, const struct git_spot *spot);

/* The end makes a git directory of its folder: judged by what lies there. */
void judge_completion(struct judging *judging);
