/**
 * Paths of C2SP tlog-tiles: `tile/<L>/<N>` for the 256 hashes N·256 and up of level L, `tile/<L>/<N>.p/<W>` for the first W of
 * them. N has groups of three digits, all but the last with an `x`: 1,234,067 is `x001/x234/067`.
 */
/** Hashes of a whole tile. */
const TILE_WIDTH = 256;

/** A tile, or the first hashes of one. */
interface Tile {
  /** 0 to 63. */
  readonly level: number;
  readonly index: number;
  /** 1 to 256 hashes. */
  readonly width: number;
}

/** The canonical path below the log's address. */
export function tilePath({ level, index, width }: Tile): string {
  const digits = String(index);
  const padded = digits.padStart(Math.ceil(digits.length / 3) * 3, '0');
  const groups = padded.match(/.{3}/g) ?? [];
  const last = groups.length - 1;
  const path = groups.map((group, at) => (at === last ? group : `x${group}`)).join('/');
  return `tile/${level}/${path}${width === TILE_WIDTH ? '' : `.p/${width}`}`;
}

/** The tile of a canonical path; null for any other text. */
export function readTilePath(path: string): Tile | null {
  const match = /^tile\/(\d{1,2})\/((?:x\d{3}\/){0,4}\d{3})(?:\.p\/(\d{1,3}))?$/.exec(path);
  if (match === null) return null;
  const [, level = '', groups = '', width] = match;
  const index = Number(groups.replace(/[x/]/g, ''));
  const tile = { level: Number(level), index, width: width === undefined ? TILE_WIDTH : Number(width) };
  if (tile.level > 63 || tile.width === 0 || tile.width > TILE_WIDTH) return null;
  return tilePath(tile) === path ? tile : null;
}
