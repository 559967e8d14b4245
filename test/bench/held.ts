/** Holds a connection to every host and prints the memory of this process in MiB. Arguments: key, known_hosts, port, hosts…. */
import { eachLimit } from '../../src/limit.ts';
import { sh } from '../../src/shell/sh.ts';
import { benchDial } from './dial.ts';

const [identityFile, knownHostsFile, port, ...hosts] = process.argv.slice(2) as [string, string, string, ...string[]];
const dial = benchDial({ identityFile, knownHostsFile, port: Number(port) });
const remotes = await eachLimit(hosts, 30, async (address) => {
  const remote = await dial(address);
  await remote.run(sh`true`);
  return remote;
});
if (remotes.some(({ status }) => status === 'rejected')) throw new Error('not all hosts were reached');
console.log(process.memoryUsage.rss() / 1024 / 1024);
for (const result of remotes) if (result.status === 'fulfilled') await result.value.close();
