/** How many cases a property test tries: few by default, more by `RINGBOOK_PROPERTY_RUNS`. fast-check prints the seed. */

/** @param fewer the number of runs without the variable. */
export function propertyParameters(fewer = 50): { readonly numRuns: number } {
  const wanted = Number(process.env['RINGBOOK_PROPERTY_RUNS'] ?? '');
  return { numRuns: Number.isSafeInteger(wanted) && wanted > 0 ? wanted : fewer };
}
