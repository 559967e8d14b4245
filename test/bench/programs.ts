import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build as bundle, type PluginBuild } from 'esbuild';
import { buildProgram, MODULE_BANNER } from '../../bundle.config.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const here = fileURLToPath(new URL('./', import.meta.url));

/** Programs that the bench runs, built: no measurement pays for TypeScript while it is measured. */
export interface Programs {
  /** `kbuild` as `npm run build` makes it, but its hosts are observed by observe.ts. */
  readonly kbuild: string;
  /** kbuild as it is. */
  readonly whole: string;
  /** The same as `kbuild` without the record of its runs. */
  readonly unrecorded: string;
  /** A file of test/bench. */
  readonly own: (name: string) => string;
}

/** Builds kbuild into a folder; files of the bench stand in for some of its own, by the ends of their names. */
async function built(folder: string, replaced: Readonly<Record<string, string>>): Promise<string> {
  const out = join(folder, 'dist');
  await buildProgram(
    out,
    Object.entries(replaced).map(([name, by]) => ({
      name: `bench-${by}`,
      setup: (build: PluginBuild) =>
        build.onResolve({ filter: new RegExp(`/${name}\\.ts$`) }, ({ importer }) =>
          importer.startsWith(here) ? undefined : { path: join(here, `${by}.ts`) },
        ),
    })),
  );
  for (const name of ['package.json', 'templates', 'node_modules']) symlinkSync(join(root, name), join(folder, name));
  return join(out, 'cli/main.js');
}

/** Builds them into a folder. */
export async function benchPrograms(folder: string, names: readonly string[]): Promise<Programs> {
  const whole = await built(join(folder, 'whole'), {});
  const kbuild = await built(folder, { 'observe-linux': 'observe' });
  const withoutRecord = { 'record/record-files': 'no-recorder', 'record/notes': 'no-notes' };
  const unrecorded = await built(join(folder, 'unrecorded'), { 'observe-linux': 'observe', ...withoutRecord });
  await bundle({
    absWorkingDir: root,
    entryPoints: names.map((name) => join(here, `${name}.ts`)),
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    external: ['ssh2'],
    banner: { js: MODULE_BANNER },
    outdir: join(folder, 'own'),
    outExtension: { '.js': '.mjs' },
  });
  return { whole, kbuild, unrecorded, own: (name) => join(folder, 'own', `${name}.mjs`) };
}
