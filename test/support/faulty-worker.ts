/** A worker of a real node with actors that fail on cue, at their next tick (fault-cue.ts). */
import { clearingFactories } from '../../src/node/clearing-factory.ts';
import { marketDataFactories } from '../../src/node/market-data-factory.ts';
import { marketFactories } from '../../src/node/market-factory.ts';
import type { Actor, ActorFactories, ActorFactory } from '../../src/runtime/actor.ts';
import { bootThread } from '../../src/runtime/thread-boot.ts';
import { obeyCue } from './fault-cue.ts';

const real: ActorFactories = { ...marketFactories, ...clearingFactories, ...marketDataFactories };

function faulty(make: ActorFactory): ActorFactory {
  return (wiring): Actor => {
    const actor = make(wiring);
    const tick = actor.tick.bind(actor);
    actor.tick = (nowNs) => {
      obeyCue(actor.name);
      tick(nowNs);
    };
    return actor;
  };
}

bootThread(Object.fromEntries(Object.entries(real).map(([name, make]) => [name, faulty(make)])));
