import type { Context } from '../../src/session/context.ts';

/** A process without a terminal that keeps what a command prints. `at`: its folder and environment. */
export function quietContext(at: Partial<Pick<Context, 'cwd' | 'env'>> = {}): {
  readonly context: Context;
  readonly out: () => string;
  readonly err: () => string;
} {
  let out = '';
  let err = '';
  const context: Context = {
    version: '0.0.0',
    out: (text) => (out += text),
    err: (text) => (err += text),
    terminal: undefined,
    env: at.env ?? {},
    cwd: at.cwd ?? '/',
    canAsk: false,
    ask: () => Promise.resolve(''),
    askHidden: () => Promise.resolve(''),
    onInterrupt: () => () => undefined,
    exit: () => undefined,
    nowMs: () => 0,
    sleep: () => Promise.resolve(),
  };
  return { context, out: () => out, err: () => err };
}
