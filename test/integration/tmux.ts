/** Programs in a window of tmux: what a person sees of them there. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Size } from '../lab/pseudo-terminal.ts';
import { waitUntil } from '../lab/wait-until.ts';

/** Slow only where the machine is busy with other things. */
const DEADLINE_MS = 50_000;

/** A window with one program in it, on a server of tmux of its own. */
export interface Window {
  /** Returns when the program has set this title: tmux has then drawn all that was written before. */
  readonly titled: (title: string) => Promise<void>;
  /** Its lines, without blanks at their ends; `all`: also those that were scrolled away. */
  readonly lines: (which: 'visible' | 'all') => string;
  readonly press: (key: string) => void;
  readonly resize: (size: Size) => void;
  /** Ends the program and the server. */
  readonly close: () => void;
}

const quoted = (word: string): string => `'${word.replaceAll("'", String.raw`'\''`)}'`;

/** Starts a program in a window of this size. */
export function inTmux(program: readonly string[], { columns, rows }: Size): Window {
  const folder = mkdtempSync(join(tmpdir(), 'kbuild-tmux-'));
  const config = join(folder, 'tmux.conf');
  writeFileSync(
    config,
    'set -g status off\nset -g remain-on-exit on\nset -g default-terminal tmux-256color\nset -g history-limit 1000\n',
  );
  const tmux = (...args: readonly string[]): string =>
    execFileSync('tmux', ['-u', '-S', join(folder, 'socket'), '-f', config, ...args], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], HOME: folder, LC_ALL: 'C.UTF-8', TERM: 'xterm-256color' },
    });
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), program.map(quoted).join(' '));
  return {
    titled: async (title) => {
      await waitUntil(`the title "${title}" of a window`, DEADLINE_MS, () => {
        const [dead, now] = tmux('display-message', '-p', '#{pane_dead} #{pane_title}').trimEnd().split(/ (.*)/);
        if (dead === '1') throw new Error(`the program has ended:\n${tmux('capture-pane', '-p', '-S', '-')}`);
        return now === title;
      });
    },
    lines: (which) => tmux('capture-pane', '-p', ...(which === 'all' ? ['-S', '-'] : [])).trimEnd(),
    press: (key) => void tmux('send-keys', key),
    resize: (size) => void tmux('resize-window', '-x', String(size.columns), '-y', String(size.rows)),
    close: () => {
      tmux('kill-server');
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
