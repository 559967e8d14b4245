import { filesOf } from '../machine.ts';
import { ScriptFailure, type Answer } from '../script.ts';

export const answer: Answer = (machine, params) => {
  const { Name, Plugins, Path } = params as Record<string, string>;
  const files = filesOf(machine);
  const network = machine.networks.find(({ name }) => name === Name);
  if (network === undefined) throw new ScriptFailure(`there is no HNS network ${Name!}`);
  if (files.get(`${Plugins!}\\host-local.exe`) === undefined)
    throw new ScriptFailure(`The term '${Plugins!}\\host-local.exe' is not recognized.`);
  const subnet = String(network['subnet']);
  const record = { subnet, address: subnet.replace(/\d+\/\d+$/, '2') };
  files.put(Path!, JSON.stringify(record));
  return record;
};
