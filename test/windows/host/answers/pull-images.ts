import { filesOf } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

/** `extra.images`: what containerd has. `extra.unpullable`: an image that no registry has. */
export const answer: Answer = (machine, params, { account }) => {
  const { Crictl = '', Endpoint = '', Record: record = '' } = params as Record<string, string>;
  const { Images } = params as unknown as { readonly Images: readonly string[] };
  const files = filesOf(machine);
  if (account !== 'SYSTEM') throw new ScriptFailure('images are pulled by a job');
  if (files.text(Crictl) === undefined) throw new ScriptFailure(`The term '${Crictl}' is not recognized.`);
  if (Endpoint !== 'npipe:////./pipe/containerd-containerd' || machine.services.get('containerd')?.state !== 'Running')
    throw new ScriptFailure(`crictl.exe ended with status 1: no runtime at ${Endpoint}`);
  const had = (machine.extra.get('images') ?? []) as readonly string[];
  const pulled = Images.filter((image) => !had.includes(image));
  const missing = pulled.find((image) => image === machine.extra.get('unpullable'));
  if (missing !== undefined) throw new ScriptFailure(`crictl.exe ended with status 1: ${missing}: not found`);
  machine.extra.set('images', [...had, ...pulled]);
  files.put(record, Images.join('\n'));
  return { pulled };
};
