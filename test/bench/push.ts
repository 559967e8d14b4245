/** Uploads a file and prints MB/s, from the first byte until the host has verified its hash. Arguments: key, known_hosts, port, host, from, to. */
import { statSync } from 'node:fs';
import { sh } from '../../src/shell/sh.ts';
import { benchDial } from './dial.ts';

const [identityFile, knownHostsFile, port, host, from, to] = process.argv.slice(2);
const dial = benchDial({ identityFile: identityFile!, knownHostsFile: knownHostsFile!, port: Number(port) });
const remote = await dial(host!);
await remote.run(sh`true`);
const start = performance.now();
await remote.upload(from!, to!);
console.log(statSync(from!).size / 1e6 / ((performance.now() - start) / 1000));
await remote.close();
