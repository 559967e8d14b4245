import { tmpdir } from 'node:os';
import { attempt } from './run.ts';
import { GO } from './versions.ts';

/** The Go of this machine: what recipes that compile need in their environment, or why it will not do. */
export interface GoToolchain {
  readonly env: Readonly<Record<string, string>>;
  /** What is missing, with the command that installs it. */
  readonly lack?: string;
}

const INSTALL = `curl -fsSL https://go.dev/dl/go${GO.toInstall}.linux-amd64.tar.gz | tar -C /usr/local -xz && export PATH=/usr/local/go/bin:$PATH`;
/** A toolchain is 70 MB. */
const FETCH_MS = 300_000;

const isAtLeast = (version: readonly number[], least: readonly number[]): boolean => {
  const at = least.findIndex((part, index) => (version[index] ?? 0) !== part);
  return at === -1 || (version[at] ?? 0) > least[at]!;
};

let found: Promise<GoToolchain> | undefined;

/**
 * Finds Go once for this process. One that is too old to build Kubernetes, but new enough to fetch another toolchain, fetches
 * it here: whether it can depends on its proxy, and not on its version.
 */
export const goToolchain = (): Promise<GoToolchain> => (found ??= findGo());

/** As `goToolchain`, each time anew. */
export async function findGo(): Promise<GoToolchain> {
  const [needed, fetches] = [GO.needed.join('.'), GO.fetches.join('.')];
  // Outside of any module, whose go.mod may name another one.
  const go = (args: readonly string[], env: Record<string, string>) =>
    attempt('go', args, { env: { GOWORK: 'off', ...env }, cwd: tmpdir(), timeoutMs: FETCH_MS }).catch(() => undefined);
  const local = await go(['env', 'GOVERSION'], { GOTOOLCHAIN: 'local' });
  const version = /^go(\d+)\.(\d+)(?:\.(\d+))?/
    .exec(local?.stdout ?? '')
    ?.slice(1)
    .map((part?: string) => Number(part ?? '0'));
  if (version === undefined) return { env: {}, lack: `Go ${fetches} or newer (found none): ${INSTALL}` };
  if (isAtLeast(version, GO.needed)) return { env: {} };
  const old = `Go ${version.join('.')}`;
  if (!isAtLeast(version, GO.fetches))
    return { env: {}, lack: `Go ${fetches} or newer (found ${old}, which cannot fetch ${needed}): ${INSTALL}` };
  const fetched = await go(['version'], { GOTOOLCHAIN: `go${needed}` });
  if (fetched?.code === 0) return { env: { GOTOOLCHAIN: `go${needed}+auto` } };
  const reason = fetched?.stderr.trim().split('\n').at(-1) ?? 'it does not start';
  return {
    env: {},
    lack: `Go ${needed} (found ${old}, which could not fetch it: ${reason}): let it reach GOPROXY, or ${INSTALL}`,
  };
}
