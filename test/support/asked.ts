/** Commands to clearing as tests write them: typed, or as an operator's request with its body, read as the operator API does. */
import type { ClearingInput, OperatorCommand } from '../../src/clearing/inputs.ts';
import { accepted, type Outcome } from '../../src/core/outcome.ts';
import { type OperatorRequest, readRequest } from '../../src/operator/commands.ts';

/** A command, or a request that is read first. */
export type Asked = OperatorCommand | OperatorRequest;
/** The same with its number. */
export type AskedInput = ClearingInput | (OperatorRequest & { readonly request: number });

/** @returns INVALID_REQUEST with the member at fault. */
export function commandOf(asked: Asked): Outcome<OperatorCommand> {
  return 'body' in asked ? readRequest(asked) : accepted(asked);
}

/** @throws Error for a request that is refused. */
export function mustCommand(asked: Asked): OperatorCommand {
  const command = commandOf(asked);
  if (!command.ok) throw new Error(`${asked.kind} is refused: ${command.reject.message} ${command.reject.field ?? ''}`);
  return command.value;
}

/** @returns INVALID_REQUEST with the member at fault. */
export function inputOf(asked: AskedInput): Outcome<ClearingInput> {
  if (!('body' in asked)) return accepted(asked);
  const { request, ...rest } = asked;
  const command = readRequest(rest as OperatorRequest);
  return command.ok ? accepted({ ...command.value, request }) : command;
}

/** @throws Error for a request that is refused. */
export function mustInputs(asked: readonly AskedInput[]): readonly ClearingInput[] {
  return asked.map((one) => {
    const input = inputOf(one);
    if (!input.ok) throw new Error(`${one.kind} is refused: ${input.reject.message} ${input.reject.field ?? ''}`);
    return input.value;
  });
}
