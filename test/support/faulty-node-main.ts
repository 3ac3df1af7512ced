/** A real node as a process, with threads that fail on cue (fault-cue.ts); started as the CLI's `start` is. */
import { writeSync } from 'node:fs';
import { RingbookNode } from '../../src/node/boot.ts';
import { loadConfig } from '../../src/node/config.ts';
import { NodeThreads } from '../../src/node/node-threads.ts';
import { obeyCue } from './fault-cue.ts';

function entryOf(thread: string): URL {
  const own = thread === 'verify' || thread === 'history';
  return new URL(own ? `./faulty-${thread}.js` : './faulty-worker.js', import.meta.url);
}

const threads = new NodeThreads(loadConfig(process.env), entryOf);
threads.begin();
const node = new RingbookNode(threads);
const open = await node.start();
setInterval(() => obeyCue('main'), 5);
writeSync(1, `${JSON.stringify({ event: 'ready', profile: node.config.profile, ...open, pid: process.pid })}\n`);
