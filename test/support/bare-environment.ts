/**
 * The environment of this process without the variables of ringbook: nodes and commands of a test have those that the test gives
 * them, and a node refuses the ones that only tests read (`RINGBOOK_PROPERTY_RUNS` and others).
 */
export function bareEnvironment(): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('RINGBOOK_')));
}
