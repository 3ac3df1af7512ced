// tier: full, 2 s
/** Signed notes, verifier keys, checkpoints and certificates: the bytes of Go's sumdb/note and transparency-dev/formats. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { must as mustBe } from '../../src/core/assert.ts';
import {
  cosignature,
  cosignedAt,
  isKeyName,
  NOTE_TYPE,
  noteSigner,
  readNote,
  readSigner,
  readVkey,
  signedBy,
  signerText,
  signNote,
  verifierKey,
  vkeyText,
} from '../../src/evidence/notes.ts';
import {
  certificateText,
  headText,
  keyEndText,
  keyRequestText,
  readKeyRequest,
  readLogHead,
  readVenueNote,
} from '../../src/evidence/venue-notes.ts';
import { propertyParameters } from '../support/property.ts';

const must = <T>(value: T | null | undefined): T => mustBe(value, 'it is there');
const seed = (byte: number): Uint8Array => new Uint8Array(32).fill(byte);

interface Vectors {
  readonly note: {
    readonly signed: string;
    readonly logVkey: string;
    readonly witnessVkey: string;
    readonly witnessTime: number;
  };
  readonly roots: readonly string[];
}

const { note: go, roots } = JSON.parse(readFileSync('test/fixtures/evidence-vectors.json', 'utf8')) as Vectors;
const ORIGIN = 'ringbook.example/log/1';

suite('EVD-01: notes and keys', () => {
  test('a note with a log signature and a cosignature of Go is made byte for byte, and read', () => {
    const log = noteSigner(ORIGIN, seed(1));
    const witness = noteSigner('witness.example/w1', seed(2));
    assert.equal(vkeyText(log.key), go.logVkey);
    assert.equal(vkeyText(verifierKey(witness.key.name, NOTE_TYPE.cosignature, witness.key.publicKey)), go.witnessVkey);
    const root = Uint8Array.from(Buffer.from(must(roots[70]), 'base64'));
    const text = headText({ origin: ORIGIN, size: 70, root });
    assert.equal(signNote(text, log) + cosignature(text, witness, go.witnessTime), go.signed);
    const note = must(readNote(go.signed));
    assert.equal(signedBy(note, must(readVkey(go.logVkey))), 'valid');
    assert.equal(cosignedAt(note, must(readVkey(go.witnessVkey))), go.witnessTime);
    assert.deepEqual(readLogHead(note.text), { origin: ORIGIN, size: 70, root });
    assert.equal(signedBy(note, noteSigner(ORIGIN, seed(3)).key), 'absent');
    assert.equal(cosignedAt(note, log.key), 'invalid', 'the log key is of another type');
  });

  test('the example of the C2SP document is valid, and the same text under another key is not', () => {
    const text = 'This is an example message.\n';
    const note = `${text}\n\u2014 example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n`;
    const key = must(readVkey('example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k'));
    assert.equal(signedBy(must(readNote(note)), key), 'valid');
    assert.equal(signedBy(must(readNote(note.replace('example m', 'Example m'))), key), 'invalid');
    assert.equal(signedBy(must(readNote(note)), { ...key, publicKey: seed(1) }), 'invalid');
    const twice = note + note.slice(text.length + 1).replace('Uw2QOkn8', 'Uw2QOkn9');
    assert.equal(signedBy(must(readNote(twice)), key), 'invalid', 'one wrong signature of a known key');
  });

  test('keys are read as they were written, and nothing else is a key', () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 32, maxLength: 32 }),
        fc.stringMatching(/^[a-z./0-9]{1,20}$/),
        (bytes, name) => {
          const signer = noteSigner(name, bytes);
          assert.deepEqual(must(readVkey(vkeyText(signer.key))), signer.key);
          assert.deepEqual(must(readSigner(signerText(signer))), signer);
        },
      ),
      propertyParameters(),
    );
    const vkey = go.logVkey;
    const wrong = [
      ...['', 'a', 'a+b', vkey.replace('ringbook', 'ringbooc'), vkey.replace('+4836', '+4837'), `${vkey}=`, ` ${vkey}`],
      ...[
        vkey.replace('+AYqI', '+AoqI'),
        vkey.slice(0, -1),
        vkey.replace('ringbook.', 'ring book.'),
        vkey.toUpperCase(),
      ],
    ];
    for (const text of wrong) assert.equal(readVkey(text), null, text);
    for (const text of [vkey, signerText(noteSigner('a', seed(1))).replace('PRIVATE+', 'PUBLIC+')])
      assert.equal(readSigner(text), null, text);
    for (const name of ['', 'a b', 'a+b', 'a\u00a0b', 'a\nb', 'a\u2003', '\ud800', 'x'.repeat(256)])
      assert.ok(!isKeyName(name), JSON.stringify(name));
  });

  test('notes are strict: lines, controls, base64, bounds', () => {
    const note = go.signed;
    const wrong = [
      ...['', '\n', 'text\n', note.slice(0, -1), `${note}\n`, note.replace('\n\n', '\n'), note.replace('\u2014', '-')],
      ...[
        note.replace('\u2014 ', '\u2014  '),
        note.replace('70', '7\r0'),
        note.replace('70', '7\u00000'),
        `${note}x\n`,
      ],
      ...[note.replace('SDbi', 'SDb'), note.replace('wQCAk=', 'wQCAl='), 'a'.repeat(70_000) + note, `\ud800${note}`],
      ...['text\n\n\u2014 a AAAA\n', `text\n\n${'\u2014 a AAAAAAAA\n'.repeat(65)}`],
    ];
    for (const text of wrong) assert.equal(readNote(text), null, JSON.stringify(text.slice(0, 60)));
    assert.equal(must(readNote(`text\n\n${'\u2014 a AAAAAAAA\n'.repeat(64)}`)).signatures.length, 64);
    for (const text of [
      `${ORIGIN}\n70\nAAAA\n`,
      `${ORIGIN}\n070\n${roots[70]}\n`,
      `\n70\n${roots[70]}\n`,
      `${ORIGIN}\n70\n${roots[70]}\nmore\n`,
    ])
      assert.equal(readLogHead(text), null, text);
    assert.equal(readLogHead(`${ORIGIN}\n9007199254740992\n${roots[70]}\n`), null);
  });

  test('certificates and ends: of this origin, by the venue key, in one spelling', () => {
    const [venue, log] = [noteSigner(ORIGIN, seed(5)), noteSigner(ORIGIN, seed(6))];
    const logKey = { origin: ORIGIN, key: log.key, use: 'heads' } as const;
    const certificate = { ...logKey, fromNs: 1_795_945_858_000_000_000n, untilNs: 1_830_505_858_000_000_000n };
    const text = certificateText(certificate);
    assert.equal(
      text,
      `ringbook/log-key/v1\n${ORIGIN}\n${vkeyText(log.key)}\nuse heads\nfrom 2026-11-29T09:50:58Z\nuntil 2028-01-03T09:50:58Z\n`,
    );
    assert.deepEqual(readKeyRequest(keyRequestText(logKey)), logKey);
    assert.deepEqual(readVenueNote(signNote(text, venue), venue.key), { kind: 'certificate', ...certificate });
    const end = { origin: ORIGIN, key: log.key, size: 12 };
    assert.deepEqual(readVenueNote(signNote(keyEndText(end), venue), venue.key), { kind: 'end', ...end });
    assert.equal(readVenueNote(signNote(text, log), venue.key), null, 'signed by another key');
    const wrong = [
      ...[
        text.replace('v1', 'v2'),
        text.replace('heads', 'head'),
        text.replace(':58Z', ':58.000Z'),
        text.replace('Z\n', '\n'),
      ],
      ...[
        text.replace('2028', '2025'),
        text.replace('11-29', '11-31'),
        `${text}more\n`,
        text.replace(ORIGIN, 'a.example'),
      ],
      ...[text.replaceAll(ORIGIN, 'a.example'), keyEndText(end).replace('size 12', 'size 012'), 'text\n'],
    ];
    for (const other of wrong) assert.equal(readVenueNote(signNote(other, venue), venue.key), null, other);
    for (const other of [text, keyRequestText(logKey).replace('use ', 'use  '), ''])
      assert.equal(readKeyRequest(other), null, other);
  });
});
