/** A witness of C2SP tlog-witness over HTTP: it checks signature and consistency, and keeps the newest head, as the document says. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { readBase64 } from '../../src/evidence/base64.ts';
import {
  cosignature,
  NOTE_TYPE,
  type NoteSigner,
  signedBy,
  type VerifierKey,
  verifierKey,
  vkeyText,
} from '../../src/evidence/notes.ts';
import { EMPTY_TREE_ROOT } from '../../src/evidence/tree/hashes.ts';
import { isConsistent } from '../../src/evidence/tree/proofs.ts';
import { readSignedHead } from '../../src/evidence/venue-notes.ts';

interface Answer {
  readonly status: number;
  readonly body: string;
}

export class TestWitness {
  readonly signer: NoteSigner;
  readonly #logKey: VerifierKey;
  readonly #server: Server;
  known: { readonly size: number; readonly root: Uint8Array } = { size: 0, root: EMPTY_TREE_ROOT };
  /** Instead of what is right. */
  lie: ((right: Answer) => Answer) | null = null;
  requests = 0;
  /** Once it listens. */
  url = '';
  timeSeconds = 1_795_946_000;

  constructor(signer: NoteSigner, logKey: VerifierKey) {
    this.signer = signer;
    this.#logKey = logKey;
    this.#server = createServer((request, response) => {
      void text(request).then((body) => {
        this.requests += 1;
        const right = request.method === 'POST' && request.url === '/w/add-checkpoint' ? this.#answer(body) : of(404);
        const answer = this.lie?.(right) ?? right;
        response.writeHead(answer.status).end(answer.body);
      });
    });
  }

  get vkey(): string {
    return vkeyText(verifierKey(this.signer.key.name, NOTE_TYPE.cosignature, this.signer.key.publicKey));
  }

  /** @returns its address. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    this.url = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/w`;
    return this.url;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  #answer(body: string): Answer {
    const split = body.indexOf('\n\n');
    const [oldLine = '', ...proofLines] = body.slice(0, split).split('\n');
    const signed = readSignedHead(body.slice(split + 2));
    const old = Number(/^old (0|[1-9][0-9]*)$/.exec(oldLine)?.[1] ?? Number.NaN);
    const proof = proofLines.map(readBase64);
    if (signed === null || Number.isNaN(old) || proof.length > 63 || proof.includes(null)) return of(400);
    const { note, head } = signed;
    if (head.origin !== this.#logKey.name) return of(404);
    if (signedBy(note, this.#logKey) !== 'valid') return of(403);
    if (old > head.size) return of(400);
    if (old !== this.known.size) return { status: 409, body: `${this.known.size}\n` };
    if (!isConsistent(this.known, head, proof as Uint8Array[])) return of(old === head.size ? 409 : 422);
    this.known = { size: head.size, root: head.root };
    return { status: 200, body: cosignature(note.text, this.signer, this.timeSeconds) };
  }
}

function of(status: number): Answer {
  return { status, body: '' };
}
