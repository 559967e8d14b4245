#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { systemRemedy, systemText } from '../shell/text.ts';
import { loaded, restoreSettings } from './v8-settings.ts';

/** Milliseconds after a command was loaded: by then it waits for hosts, if it has any. */
const WAITS_MS = 100;

/** What a command loads when a cluster answers is loaded before that, while nothing else is to be done. */
const whileWaiting = (): void => loaded(() => process.getBuiltinModule('node:http2'));

// The entry of the bundle: the only file whose place beside package.json is the same before and after the build.
const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
  readonly version: string;
};

// `kbuild plan | head -1` must not abort a run, nor `kbuild --help | head -3` end with a trace.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') return;
    const name = stream === process.stdout ? 'standard output' : 'standard error';
    if (stream !== process.stderr)
      process.stderr.write(
        `kbuild: ${name} cannot be written: ${systemText(error)}\n  → ${systemRemedy(error) ?? ''}\n`,
      );
    process.exit(2);
  });
}

/** True in a shell whose folder was removed: no path means anything there. */
function isFolderGone(): boolean {
  try {
    return process.cwd() === '';
  } catch {
    return true;
  }
}

async function start(): Promise<void> {
  // Asked often by scripts: answered before anything else is loaded.
  if (process.argv[2] === '--version' || process.argv[2] === '-V') {
    process.stdout.write(`${version}\n`);
  } else if (isFolderGone()) {
    process.stderr.write('kbuild: the folder in which you are was removed\n  → go to another one\n');
    process.exitCode = 2;
  } else if (process.argv[2] === '__complete') {
    // Asked by the scripts of shells at every TAB.
    const { completionAnswer } = await import('./completion/run-complete.ts');
    process.stdout.write(await completionAnswer({ env: process.env, cwd: process.cwd() }, process.argv.slice(3)));
  } else {
    // Before the listener that keeps the program's code.
    process.once('exit', restoreSettings);
    const { run } = await import('./program.ts');
    process.exitCode = await run(process.argv, version, () => setTimeout(whileWaiting, WAITS_MS).unref());
    // All is written and closed: taking the heap apart, which Node does at the end, would be for nothing. An error of
    // the last write (a full disk) is an event that comes before the next turn.
    if (process.stdout.writableLength + process.stderr.writableLength === 0) setImmediate(() => process.exit());
  }
}

void start();
