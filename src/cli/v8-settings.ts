import { setFlagsFromString } from 'node:v8';

/*
 * A run lasts for seconds and does little often. Left alone, V8 spends a fifth of it on optimizing what is soon over,
 * and on moving what lives as long as the run from one small place to the next. Seen in Node 20 (V8 11.3); later
 * versions know other settings, and say so on stderr (seen in Node 26), so they keep their own.
 *
 * V8 takes compiled code only from a V8 with the same settings, and most of Node's own modules come as such code: with
 * a setting at the start, Node compiles them (14 ms for those of a plan). So V8 has its own settings whenever one of
 * them is loaded, and when the program's code is kept.
 */

interface Setting {
  readonly own: string;
  readonly changed: string;
}

/** By what it grows, the part of the heap that is looked through most often: from 1 MiB to its 16 at once. */
const GROWTH: Setting = { own: '--semi-space-growth-factor=2', changed: '--semi-space-growth-factor=16' };

/** Later by 7 times: with it, a plan of 50 hosts costs 13 % less. */
const OPTIMIZING: Setting = { own: '--interrupt-budget=67584', changed: '--interrupt-budget=500000' };

/** Nothing is looked through before there is no room left: most runs end before that. */
const IDLE_CLEANING: Setting = { own: '--minor-gc-task', changed: '--no-minor-gc-task' };

const set = (settings: readonly Setting[], which: keyof Setting): void => {
  if (process.versions.v8.startsWith('11.')) for (const one of settings) setFlagsFromString(one[which]);
};

/** While the program is loaded: nearly all of what it makes stays, and hardly any of what it does is done again. */
const LOADING = [GROWTH, OPTIMIZING];

let isLoading = false;

/** The program is loaded from now on, until `loaded`. */
export function beginLoading(): void {
  isLoading = true;
  set(LOADING, 'changed');
}

/** Loads something of Node's own meanwhile. */
export function withOwnSettings<T>(load: () => T): T {
  if (!isLoading) return load();
  set(LOADING, 'own');
  try {
    return load();
  } finally {
    set(LOADING, 'changed');
  }
}

/** The program is loaded. `load`: what it will need of Node besides, loaded before V8's settings change again. */
export function loaded(load: () => unknown): void {
  isLoading = false;
  set(LOADING, 'own');
  load();
  set([OPTIMIZING, IDLE_CLEANING], 'changed');
}

/** V8's own settings again. */
export function restoreSettings(): void {
  isLoading = false;
  set([GROWTH, OPTIMIZING, IDLE_CLEANING], 'own');
}
