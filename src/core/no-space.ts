/** How the end of a node is named that could not write for lack of space (MCH-04). */
export const NO_SPACE = 'no space is left on the disk';
