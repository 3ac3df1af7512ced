/** Commands to clearing as tests write them: typed, or as an operator's request with its body, read as the operator API does. */
import type { CancelWithdrawal, ClearingInput, OperatorCommand, Settle, Withdraw } from '../../src/clearing/inputs.ts';
import { accepted, type Outcome } from '../../src/core/outcome.ts';
import { type OperatorRequest, readRequest } from '../../src/operator/commands.ts';

/** A command, or a request that is read first. */
export type Asked = OperatorCommand | OperatorRequest;
/** Members of actions of which the text is accepted once: left out, the text is one of its own, by the number of the request. */
type Texted = {
  readonly withdraw: Pick<Withdraw, 'text'>;
  readonly cancelWithdrawal: Pick<CancelWithdrawal, 'text' | 'requestedNs'>;
  readonly settle: Pick<Settle, 'text' | 'makerOrder' | 'notReady'>;
};
type Untexted = {
  [Kind in keyof Texted]: Omit<Extract<ClearingInput, { kind: Kind }>, keyof Texted[Kind]> & Partial<Texted[Kind]>;
}[keyof Texted];
/** The same with its number. */
export type AskedInput =
  | Exclude<ClearingInput, { readonly kind: keyof Texted }>
  | Untexted
  | (OperatorRequest & { readonly request: number });

/** The digest of a text of its own. */
export function textOf(request: number): string {
  return request.toString(16).padStart(64, '0');
}

function withText(asked: Untexted): ClearingInput {
  const text = textOf(asked.request);
  if (asked.kind === 'withdraw') return { text, ...asked };
  if (asked.kind === 'settle') return { text, makerOrder: null, notReady: null, ...asked };
  return { text, requestedNs: null, ...asked };
}

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
  if (!('body' in asked)) {
    const isTexted = asked.kind === 'withdraw' || asked.kind === 'cancelWithdrawal' || asked.kind === 'settle';
    return accepted(isTexted ? withText(asked) : asked);
  }
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
