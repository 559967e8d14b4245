import type { Host } from '../../src/inventory/inventory.ts';
import type { Command } from '../../src/shell/command.ts';
import { revealed, Secret } from '../../src/shell/secret.ts';
import type { On, Remote } from '../../src/ssh/remote.ts';

/** One thing that was asked of a host. */
export type Sent =
  | { readonly host: string; readonly kind: 'run' | 'reveal' | 'hold'; readonly script: string; readonly title: string }
  | { readonly host: string; readonly kind: 'read' | 'restart'; readonly path: string }
  | {
      readonly host: string;
      readonly kind: 'write';
      readonly path: string;
      readonly content: string;
      readonly mode: number | undefined;
    }
  | { readonly host: string; readonly kind: 'upload' | 'download'; readonly from: string; readonly to: string }
  | {
      readonly host: string;
      readonly kind: 'job';
      readonly name: string;
      readonly script: string;
      readonly title: string;
      readonly files: Readonly<Record<string, string>>;
    };

/** What a fake host answers. Anything not answered is the empty text. */
export interface Answers {
  readonly run?: (command: Command, host: Host) => string;
  readonly read?: (path: string, host: Host) => string;
  readonly job?: (name: string, command: Command, host: Host) => string;
}

/** Hosts that only note what is asked of them, secrets revealed; what they answer is up to the test. */
export function recordingOn(answers: Answers = {}): { readonly on: On; readonly sent: readonly Sent[] } {
  const sent: Sent[] = [];
  const on = (one: Host): Remote => {
    const host = one.name;
    const run = (kind: 'run' | 'reveal' | 'hold', { script, title }: Command): void =>
      void sent.push({ host, kind, script, title });
    return {
      host: one,
      run: (command) => {
        run('run', command);
        return Promise.resolve(answers.run?.(command, one) ?? '');
      },
      reveal: (command) => {
        run('reveal', command);
        return Promise.resolve(Secret.of(answers.run?.(command, one) ?? ''));
      },
      read: (path) => {
        sent.push({ host, kind: 'read', path });
        return Promise.resolve(answers.read?.(path, one) ?? '');
      },
      write: (path, content, mode) => {
        sent.push({
          host,
          kind: 'write',
          path,
          content: content instanceof Secret ? revealed(content) : content,
          mode,
        });
        return Promise.resolve();
      },
      upload: (from, to) => Promise.resolve(void sent.push({ host, kind: 'upload', from, to })),
      download: (from, to) => Promise.resolve(void sent.push({ host, kind: 'download', from, to })),
      job: (name, command, files = {}) => {
        const plain = Object.fromEntries(Object.entries(files).map(([file, secret]) => [file, revealed(secret)]));
        sent.push({ host, kind: 'job', name, script: command.script, title: command.title, files: plain });
        return Promise.resolve(answers.job?.(name, command, one) ?? '');
      },
      hold: (command) => {
        run('hold', command);
        return Promise.resolve({
          first: '',
          ended: Promise.resolve(0),
          isDoubtful: () => false,
          trust: () => undefined,
          release: () => Promise.resolve(),
        });
      },
      renew: () => undefined,
      restart: () => Promise.resolve(void sent.push({ host, kind: 'restart', path: '' })),
    };
  };
  return { on: on as On, sent };
}
