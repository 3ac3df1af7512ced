/**
 * The contracts of test/contracts, compiled by solc from npm. A compilation takes seconds, so its result is kept in the
 * system's temporary directory under the hash of sources and compiler.
 */
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Abi, Hex } from 'viem';

export type ContractName = 'VaultV1' | 'VaultV2' | 'Token' | 'Executor' | 'Depositor';

export interface Contract {
  readonly abi: Abi;
  /** What a deployment sends, without arguments. */
  readonly bytecode: Hex;
  /** What lies at the address afterwards. */
  readonly deployed: Hex;
  /** By signature: 8 hex. */
  readonly selectors: Readonly<Record<string, string>>;
}

const FILES: readonly string[] = ['Vault.sol', 'Token.sol', 'Ed25519.sol'];
const NAMES: readonly ContractName[] = ['VaultV1', 'VaultV2', 'Token', 'Executor', 'Depositor'];

interface Compiled {
  readonly abi: Abi;
  readonly evm: {
    readonly bytecode: { readonly object: string };
    readonly deployedBytecode: { readonly object: string };
    readonly methodIdentifiers: Readonly<Record<string, string>>;
  };
}

interface CompilerOutput {
  readonly errors?: readonly { readonly severity: string; readonly formattedMessage: string }[];
  readonly contracts?: Readonly<Record<string, Readonly<Record<string, Compiled>>>>;
}

interface Compiler {
  version(): string;
  compile(input: string): string;
}

/** Seen from the built file, so that the directory of the caller does not matter. */
const SOURCES = new URL('../../../test/contracts/', import.meta.url);

let compiled: Readonly<Record<ContractName, Contract>> | null = null;

/** @throws Error with the messages of the compiler. */
export function contracts(): Readonly<Record<ContractName, Contract>> {
  compiled ??= fromCache();
  return compiled;
}

function fromCache(): Readonly<Record<ContractName, Contract>> {
  const sources = Object.fromEntries(
    FILES.map((name) => [name, { content: readFileSync(new URL(name, SOURCES), 'utf8') }]),
  );
  const require = createRequire(import.meta.url);
  const { version } = require('solc/package.json') as { version: string };
  const input = JSON.stringify({
    language: 'Solidity',
    sources,
    settings: {
      // Below the size that chains take.
      optimizer: { enabled: true, runs: 1 },
      outputSelection: {
        '*': { '*': ['abi', 'evm.bytecode.object', 'evm.deployedBytecode.object', 'evm.methodIdentifiers'] },
      },
    },
  });
  const hash = createHash('sha256').update(version).update(input).digest('hex');
  const path = join(tmpdir(), `ringbook-contracts-${hash}.json`);
  if (existsSync(path)) return JSON.parse(readFileSync(path, 'utf8')) as Record<ContractName, Contract>;
  const result = compile(require('solc') as Compiler, input);
  writeFileSync(`${path}.${process.pid}`, JSON.stringify(result));
  renameSync(`${path}.${process.pid}`, path);
  return result;
}

function compile(compiler: Compiler, input: string): Readonly<Record<ContractName, Contract>> {
  const output = JSON.parse(compiler.compile(input)) as CompilerOutput;
  const errors = (output.errors ?? []).map(({ formattedMessage }) => formattedMessage);
  const found = Object.assign({}, ...Object.values(output.contracts ?? {})) as Partial<Record<string, Compiled>>;
  const entries = NAMES.map((name): [ContractName, Contract] => {
    const contract = found[name];
    if (contract === undefined || errors.length > 0) throw new Error(`${name} does not compile: ${errors.join('\n')}`);
    const { abi, evm } = contract;
    const hex = (part: { readonly object: string }): Hex => `0x${part.object}`;
    return [
      name,
      {
        abi,
        bytecode: hex(evm.bytecode),
        deployed: hex(evm.deployedBytecode),
        selectors: evm.methodIdentifiers,
      },
    ];
  });
  return Object.fromEntries(entries) as Record<ContractName, Contract>;
}
