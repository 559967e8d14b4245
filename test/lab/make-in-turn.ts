import type { Artifact } from './artifact.ts';

/** Artifacts that are made at the same time: the network and the linker leave one of two processors idle. */
const WIDTH = 2;

/**
 * Makes each artifact after those that it needs. Compilers and downloads run beside each other where they can: of what
 * is ready, the next one is of the kind that is not being made, else the first. @throws what `make` throws, once nothing
 * is being made any more
 */
export async function makeInTurn(
  artifacts: readonly Artifact[],
  make: (artifact: Artifact) => Promise<unknown>,
): Promise<void> {
  const waiting = new Map(artifacts.map((artifact) => [artifact.name, artifact]));
  const running = new Map<string, { readonly artifact: Artifact; readonly end: Promise<void> }>();
  const failures: unknown[] = [];
  const isReady = ({ needs = {} }: Artifact): boolean =>
    Object.values(needs).every(({ name }) => !waiting.has(name) && !running.has(name));
  const next = (): Artifact | undefined => {
    if (failures.length > 0 || running.size === WIDTH) return undefined;
    const ready = [...waiting.values()].filter(isReady);
    const kinds = new Set([...running.values()].map(({ artifact }) => artifact.go));
    return ready.find(({ go }) => !kinds.has(go)) ?? ready[0];
  };
  for (;;) {
    for (let artifact = next(); artifact !== undefined; artifact = next()) {
      const { name } = artifact;
      waiting.delete(name);
      const end = make(artifact)
        .catch((error: unknown) => failures.push(error))
        .then(() => void running.delete(name));
      running.set(name, { artifact, end });
    }
    if (running.size === 0) break;
    await Promise.race([...running.values()].map(({ end }) => end));
  }
  if (failures.length > 0) throw failures[0];
}
