// Sizes that both sides of the protocol keep to (native/common/limits.h), apart from the shapes, which take long to load.

export const PROTOCOL_VERSION = 1;
/** A frame's JSON in bytes; a plan may be longer. */
export const MAX_FRAME_BYTES = 1 << 20;
export const MAX_PLAN_BYTES = 8 << 20;
