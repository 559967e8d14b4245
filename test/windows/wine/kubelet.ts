/** The service `kubelet` of a simulated host: first the real program, as far as it shows how it reaches the cluster, then the model. */
import { ScriptFailure, type Program } from '../host/script.ts';
import type { RealHostOf } from './answers.ts';
import { kubeletCommand } from './host.ts';

/** What a start of the real kubelet showed. */
export interface KubeletStart {
  /** It had the bootstrap file, or only its own certificate. */
  readonly hadBootstrapFile: boolean;
  readonly log: string;
}

/** It has read its certificate, and has begun; or it has ended. */
const BEGUN = /"Started kubelet"/;
const START_MS = 120_000;

/** Starts the real kubelet with the flags of its service, tells what it said, ends it, and goes on as the model does. */
export const realKubelet =
  (of: RealHostOf, model: Program, starts: KubeletStart[]): Program =>
  async (machine, host) => {
    const real = of(machine);
    const start = await real.withRuntime(async () => {
      const { exe, flags } = kubeletCommand(machine);
      const hadBootstrapFile = machine.files.has('c:\\etc\\kubernetes\\bootstrap-kubelet.conf');
      const process = real.wine.start(exe, flags);
      const until = Date.now() + START_MS;
      while (!process.hasEnded() && !BEGUN.test(process.printed()) && Date.now() < until)
        await new Promise((done) => setTimeout(done, 100));
      await process.stop();
      return { hadBootstrapFile, log: process.printed() };
    });
    starts.push(start);
    if (!BEGUN.test(start.log)) throw new ScriptFailure(start.log.trimEnd().split('\n').slice(-3).join('\n'));
    return model(machine, host);
  };
