// How the broker words things, for faces: the same in a question, on a terminal, in the record.

export { alwaysOf, deedOf, wishOf } from '../broker/actions.js';
export { openText, pathText, programOf, reasonInWords, targetText } from '../broker/words.js';
