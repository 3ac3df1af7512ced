// tier: quick
/** What the Python package has of the contract: its vectors are those of the contract, and it goes into no other package. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { suite, test } from 'node:test';
import { generatePython } from '../../schemas/generate-python.ts';
import { PYTHON_VECTORS, pythonVectors } from '../support/make-python-vectors.ts';

suite('the Python package', () => {
  test('has the signing vectors of the contract', () => {
    assert.equal(
      readFileSync(PYTHON_VECTORS, 'utf8'),
      pythonVectors(),
      'run node dist/test/support/make-python-vectors.js',
    );
  });

  test('has every member of what is signed, in its order, and every table of /control', () => {
    const made = generatePython(readFileSync('schemas/control.fbs', 'utf8'));
    for (const [path, text] of made) assert.equal(readFileSync(path, 'utf8'), text, `${path}: run npm run generate`);
    const signed = JSON.parse([...made].find(([path]) => path.endsWith('signed.json'))?.[1] ?? '') as {
      readonly Order: { readonly properties: object; readonly required: readonly string[] };
    };
    assert.deepEqual(Object.keys(signed.Order.properties).slice(0, 3), ['signer', 'order_id', 'base_asset']);
    assert.ok(!signed.Order.required.includes('trigger'));
  });

  test('a member that is added to the tables is a member there', () => {
    const schema = readFileSync('schemas/control.fbs', 'utf8');
    const changed = schema.replace('table Shutdown {}', 'table Shutdown {\n  reason_text: string;\n}');
    const [before, after] = [schema, changed].map((text) =>
      [...generatePython(text)].find(([path]) => path.endsWith('control.json')),
    );
    assert.ok(before?.[1].includes('reason_text') === false);
    assert.ok(after?.[1].includes('"reason_text"'));
  });

  test('is left out of the image and of the npm package', () => {
    assert.ok(readFileSync('.dockerignore', 'utf8').split('\n').includes('packages/python'));
    const { files } = JSON.parse(readFileSync('package.json', 'utf8')) as { readonly files: readonly string[] };
    assert.ok(files.every((name) => !name.startsWith('packages')));
  });
});
