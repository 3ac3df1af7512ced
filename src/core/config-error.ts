/** What a start is refused with, and which profiles there are (operator-api.md 1). */

export type Profile = 'dev' | 'test' | 'production';

/** Why the node does not start, in one line that says what to do: the process prints it and exits with 78. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
