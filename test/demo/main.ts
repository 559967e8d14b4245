/**
 * `npm run demo`: three hosts, `kbuild up` for real, then proof: three Ready nodes, and a pod that answers through a Service on
 * another host. Hosts are in the lab or in containers, whichever this machine can have; without either, a recorded build is played.
 */
import { pathToFileURL } from 'node:url';
import { program, Unmet } from '../lab/errors.ts';
import { containerDemo, containersDown, demoFolder } from './container-demo.ts';
import { labDemo } from './lab-demo.ts';
import { machine } from './machine.ts';
import { options, type Options, USAGE } from './options.ts';
import { showRecording } from './recording.ts';
import { choose, type EngineName, type Machine, type Way, waysText } from './way.ts';

const ENGINES: readonly EngineName[] = ['docker', 'podman'];

/** Ends the containers of demos of every engine that answers. */
async function down({ engines }: Machine, wanted: Way | undefined): Promise<void> {
  const meant = ENGINES.filter((one) => engines[one].kind === 'answers' && (wanted === undefined || wanted === one));
  if (meant.length === 0)
    throw new Unmet('no Docker and no Podman answers; hosts of the lab end with: npm run lab -- down');
  for (const engine of meant) await containersDown(engine);
}

async function recording(why: string): Promise<void> {
  process.stderr.write(why);
  const page = await showRecording(demoFolder());
  process.stderr.write(`recording | the report of that build: ${pathToFileURL(page).href}\n${why}`);
}

/** Hosts that are really made, or a recording. @throws Unmet for what is impossible here */
async function show(given: Options): Promise<void> {
  const found = await machine();
  const choice = choose(found);
  const way = given.way ?? choice.way;
  const lacks = choice.lacks[way];
  if (lacks.length > 0) throw new Unmet(`--with ${way} is not possible here; ${waysText(choice)}`);
  if (way === 'lab') await labDemo();
  else if (way === 'recording')
    await recording(given.way === undefined ? `no hosts can be made on this machine; ${waysText(choice)}` : '');
  else await containerDemo(way, found.engines[way], given);
}

async function demo(): Promise<undefined> {
  const given = options(process.argv.slice(2));
  if (given.help) process.stdout.write(USAGE);
  else if (given.down) await down(await machine(), given.way);
  // The lab itself lists all that it lacks, and how that is installed.
  else if (given.way === 'lab') await labDemo();
  else await show(given);
  return undefined;
}

await program('demo', demo);
