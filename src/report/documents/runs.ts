import * as z from 'zod';
import { cluster, document, flag, listOf, number, oneOf, text, texts, waitingChange } from './fields.ts';

const encryption = z
  .object({
    path: text('Where API servers read their EncryptionConfiguration.'),
    keys: listOf(
      z.object({
        provider: text('`aescbc`, `secretbox`, `kms` …'),
        name: text('Its name there.'),
        sha256: text('Of the key as the file writes it; missing for `kms`.').exactOptional(),
      }),
      'The keys, which the backup does not hold.',
    ),
  })
  .meta({ description: 'What encrypts Secrets in etcd; missing if nothing does.' })
  .exactOptional();

/** `kbuild backup --json` */
export const backup = document('What `kbuild backup --json` prints.', {
  file: text('The path of the backup; missing if a command got it.').exactOptional(),
  deleted: texts('Names of older backups that `--keep` deleted.'),
  through: text('The host whose member of etcd gave the snapshot.'),
  ca: text("Fingerprint of the cluster's CA."),
  revision: number("etcd's revision: the number of the last change in the snapshot."),
  keys: number('How many keys etcd holds.'),
  version: text("Of etcd's storage, e.g. `3.6.0`."),
  encryption,
});

/** `kbuild backup verify --json` */
export const backupContents = document('What `kbuild backup verify --json` prints.', {
  cluster,
  taken: text('RFC 3339.'),
  kbuild: text('Version of the kbuild that made it.'),
  kubernetes: text('Version of the API servers, without `v`.'),
  endpoint: text('`host:port`'),
  ca: text("Fingerprint of the cluster's CA."),
  topology: oneOf(['stacked', 'built'], 'Where etcd ran.'),
  revision: number("etcd's revision: the number of the last change in the snapshot."),
  keys: number('How many keys etcd holds.'),
  controlPlanes: listOf(
    z.object({ name: text('Of the node.'), address: text('Its address then.') }),
    'The control planes of that time.',
  ),
  workers: texts('The other nodes of that time.'),
  encryption,
  files: listOf(
    z.object({ name: text('Of the part.'), path: text('Where it lay.') }),
    'Files that the inventory named.',
  ),
  parts: listOf(
    z.object({ name: text('In the archive.'), size: number('Bytes.'), sha256: text('Hexadecimal.') }),
    'All that it holds.',
  ),
});

const phase = text('The phase.');
const host = text('The host.');
const step = text('The step.');
const summary = text('What it is about, in one line.');
const durationMs = number('How long it took, in ms.');
const message = text('Why.');
const place = { phase, host, step };

const event = <Kind extends string, Shape extends z.ZodRawShape>(kind: Kind, description: string, shape: Shape) =>
  z
    .object({
      schemaVersion: z.literal(1).meta({ description: 'Raised when a field changes its meaning or goes away.' }),
      kind: z.literal(kind).meta({ description: 'What happened.' }),
      time: text('When it happened: ISO 8601.'),
      ...shape,
    })
    .meta({ description });

/**
 * One line of `up --json` and other commands that change hosts. New kinds can be added: ignore those that you do not
 * know.
 */
export const eventLine = z
  .discriminatedUnion('kind', [
    event('connecting', 'The run connects.', { hosts: texts('To these hosts.') }),
    event('hosts-awaited', 'Some hosts have not answered yet; sent again while that lasts.', {
      hosts: number('How many hosts are to be observed.'),
      answered: number('How many have been.'),
      waiting: texts('Those that have neither answered nor failed, the slowest first.'),
      waitedMs: number('Since the observation began.'),
    }),
    event('unreachable', 'A host does not answer.', { host, message }),
    event('left-out', 'The run leaves a host out; the others go on.', { host, message }),
    event('observed', 'All hosts were observed.', { hosts: number('How many.'), durationMs }),
    event('locked', 'The run holds the locks.', { hosts: number('Of how many hosts.') }),
    event('phase-started', 'A phase began.', { phase, title: text('For people.'), hosts: texts('Its hosts.') }),
    event('host-started', 'A host began its part of a phase.', { phase, host }),
    event('changing', 'A change begins.', { ...place, summary }),
    event('changed', 'A change was made.', { ...place, summary, durationMs }),
    event('unplanned', 'A change was made that was not in the confirmed plan.', { ...place, summary }),
    event('settling', 'A step waits; sent again every 10 s.', {
      ...place,
      summary,
      waitedMs: number('How long it has waited, in ms.'),
    }),
    event('job-followed', 'The run waits for a job of another run.', { host, summary }),
    event('job-waits', 'A job of this run waits for something.', { host, summary }),
    event('job-loads', 'A job of this run downloads; sent every 5 s while the number grows.', {
      host,
      bytes: number('Since the job is followed.'),
      bytesPerSecond: number('Since the event before.'),
    }),
    event('noted', 'Something to know later, e.g. where data was kept.', { host, summary }),
    event('failed', 'A host failed.', {
      ...place,
      summary,
      exitCode: number('The exit code that the failure calls for.'),
      refusal: text('The name of a refusal (exit 7): docs/refusals.md.').exactOptional(),
    }),
    event('host-done', 'A host ended its part of a phase.', { phase, host, changes: number('How many.'), durationMs }),
    event('phase-done', 'A phase ended.', { phase, changes: number('How many.'), durationMs }),
    event('waits-for-hosts', 'The run left hosts out.', {
      hosts: texts('These.'),
      changes: listOf(waitingChange, 'Changes that wait for them.'),
    }),
    event('interrupted', 'The run was interrupted.', { summary }),
    event('summary', 'The last line of a run that changed something, or of which a host failed.', {
      hosts: listOf(
        z.object({
          host,
          result: oneOf(['changed', 'unchanged', 'failed', 'left-out'], 'What became of it.'),
          changes: number('How many were made on it.'),
        }),
        'The hosts of the run.',
      ),
      longest: listOf(
        z.object({ host, what: oneOf(['change', 'wait'], 'What took the time.'), summary, durationMs }),
        'The ten changes and waits that took longest, the longest first; none below 1 s.',
      ),
    }),
    event('done', 'The run ended.', {
      changes: number('How many.'),
      failed: texts('Hosts that failed.'),
      durationMs,
    }),
  ])
  .meta({ description: 'One line of `--json` of the commands that change hosts.' });

const named = z.object({ name: text('Its name.'), summary: text('What it is.') });

/** `kbuild explain TOPIC --json` */
export const explain = document('What `kbuild explain TOPIC --json` prints. Texts are Markdown.', {
  kind: oneOf(['setting', 'check', 'refusal', 'exit'], 'What it explains.'),
  name: text('`network.podSubnet`, `clock-skew`, `other-cluster`, `7`.'),
  title: text('What it is, in one line; empty where `why` says all.'),
  why: text('What it is for, or why it exists.'),
  remedy: text('What to do about it.').exactOptional(),
  type: text('What a setting takes.').exactOptional(),
  required: flag('True for a setting that must be there.').exactOptional(),
  default: z.unknown().optional().meta({ description: 'The default of a setting; missing if it has none.' }),
  values: listOf(
    z.object({ value: text('A value.'), note: text('What is to know about it; may be empty.') }),
    'The only values that a setting takes.',
  ).exactOptional(),
  example: text('A piece of an inventory, or a command line.').exactOptional(),
  inside: listOf(named, 'Settings in it.').exactOptional(),
  more: texts('Pages of the documentation.'),
});

/** `kbuild explain --json` */
export const topics = document('What `kbuild explain --json` prints without a name.', {
  topics: listOf(
    z.object({ title: text('What the list holds.'), items: listOf(named, 'What can be explained.') }),
    'What can be explained.',
  ),
});

const run = text('Identity of the run, e.g. `20261121t165045z-0a1b2c3d`.');
const command = text('As the operator types it, e.g. `etcd snapshot save`.');
const time = text('When the run started: ISO 8601.');

/** `kbuild report --json` */
export const report = document('What `kbuild report --json` prints: what it wrote.', {
  cluster,
  run,
  command,
  time,
  page: text('Path of the HTML file.').exactOptional(),
  trace: text('Path of the Chrome trace.').exactOptional(),
});

/** `kbuild report --list --json` */
export const runs = document('What `kbuild report --list --json` prints: the recorded runs, the newest first.', {
  cluster,
  runs: listOf(
    z.object({
      run,
      command,
      path: text('Of its record.'),
      time: time.exactOptional(),
      inventory: text('Path of its inventory. Missing where the record does not say.').exactOptional(),
      exitCode: number('Missing where the run has no end: it was killed, or still runs.').exactOptional(),
      result: text('Its last line. Missing where the run has no end.').exactOptional(),
      durationMs: number('How long it took, in ms. Missing where the run has no end.').exactOptional(),
      unreadable: text('Why its record cannot be read.').exactOptional(),
    }),
    'One for each record.',
  ),
});
