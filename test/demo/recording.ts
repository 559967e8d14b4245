/** Plays a recorded build through kbuild's own reporters, and writes its report. Contacts nothing and changes nothing. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Reporter } from '../../src/engine/event.ts';
import { lineReporter } from '../../src/report/lines.ts';
import { reportPage } from '../../src/report/page/page.ts';
import type { RunRecord } from '../../src/report/record/line.ts';
import { readRecord } from '../../src/report/record/read.ts';
import type { RunRendererOptions, TerminalStream } from '../../src/report/run-renderer.ts';
import { lookOf } from '../../src/report/terminal.ts';
import { drawnReporter } from '../fakes/drawn-reporter.ts';
import { asRecording, playback, RECORDING } from './playback.ts';

/** What a recording needs of the process that plays it. */
export interface Stage {
  readonly write: (text: string) => void;
  /** Undefined: it is no terminal, and each event is a line. */
  readonly terminal: TerminalStream | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly nowMs: () => number;
  readonly wait: (ms: number) => Promise<unknown>;
  readonly after?: RunRendererOptions['after'];
}

/** The real one: standard error. */
export const realStage = (): Stage => ({
  write: (text) => void process.stderr.write(text),
  terminal: process.stderr.isTTY ? process.stderr : undefined,
  env: process.env,
  nowMs: () => performance.now(),
  wait: sleep,
});

/** Where the recorded build is. */
export const RECORD = join(import.meta.dirname, 'recording', 'up.ndjson');

/** The recorded build. @throws UsageError when kbuild cannot read it any more */
export const recordedBuild = (): RunRecord => readRecord(readFileSync(RECORD, 'utf8'), RECORD);

/** A page of text is read before it moves on, in ms. */
const READ_MS = 3000;

/** Each line says what it is. */
const marked = (text: string): string => text.replaceAll(/^(?=.)/gm, 'recording | ');

/** One line an event. Each says itself what it is: the phase that does is left out. */
function linesOf({ write }: Stage): Reporter {
  const lines = lineReporter((text) => write(marked(text)));
  return {
    ...lines,
    report: (event) => {
      if (!('phase' in event) || event.phase !== RECORDING) lines.report(event);
    },
  };
}

/** Plays a record. Settles when all of it was shown. */
export async function play(record: RunRecord, stage: Stage): Promise<void> {
  const { speed, before, phases, events, result } = playback(record);
  const { head } = record;
  stage.write(
    marked(
      `this is a build of ${String(head.hosts.length)} hosts of ${head.time.slice(0, 10)}, played ${String(speed)} times as fast; nothing happens on this machine\n$ kbuild up demo.yaml\n`,
    ),
  );
  await stage.wait(READ_MS / 2);
  stage.write(marked(`${before}Carry out this plan? [y/N] y\n`));
  await stage.wait(READ_MS);

  const startMs = Date.parse(events[0]!.time);
  const begunMs = stage.nowMs();
  /** The time of the recorded build. */
  const recordedMs = (): number => startMs + (stage.nowMs() - begunMs) * speed;
  const { terminal } = stage;
  const reporter =
    terminal === undefined
      ? linesOf(stage)
      : drawnReporter(phases, {
          ...{ stream: terminal, nowMs: recordedMs, look: lookOf(stage.env, undefined) },
          ...(stage.after === undefined ? {} : { after: stage.after }),
        });
  for (const event of events) {
    const early = (Date.parse(event.time) - recordedMs()) / speed;
    if (early > 0) await stage.wait(early);
    reporter.report(event);
  }
  await reporter.close();
  stage.write(marked(`${result}\n`));
}

/** Plays the recorded build, and writes its report into `folder`. Returns the report's path. */
export async function showRecording(folder: string, stage: Stage = realStage()): Promise<string> {
  const record = recordedBuild();
  await play(record, stage);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const page = join(folder, 'recording.html');
  writeFileSync(page, reportPage(asRecording(record)), { mode: 0o600 });
  return page;
}
