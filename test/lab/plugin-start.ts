/** How long nodes wait for their network plugin, as the cluster itself says it, for docs/performance.md. */
import { kubectl } from './pods.ts';

interface Listed {
  readonly items: readonly {
    readonly metadata: { readonly creationTimestamp: string };
    readonly status: {
      readonly conditions: readonly {
        readonly type: string;
        readonly status: string;
        readonly lastTransitionTime: string;
      }[];
    };
  }[];
}

/** Seconds from when each of these objects was made until it was Ready, e.g. `12–25`. The API counts whole ones. */
async function readyAfter(controlPlane: string, what: string): Promise<string> {
  const { items } = JSON.parse(await kubectl(controlPlane, `get ${what} -o json`)) as Listed;
  const seconds = items.map(({ metadata, status }) => {
    const ready = status.conditions.find(({ type, status: is }) => type === 'Ready' && is === 'True');
    return ready === undefined
      ? Number.NaN
      : (Date.parse(ready.lastTransitionTime) - Date.parse(metadata.creationTimestamp)) / 1000;
  });
  return [...new Set([Math.min(...seconds), Math.max(...seconds)])].join('–');
}

/** Prints it for a cluster that was built just now. `pods`: of the plugin, as kubectl selects them. */
export async function tellPluginStart(controlPlane: string, plugin: string, pods: string): Promise<void> {
  console.log(
    `${plugin}: nodes Ready ${await readyAfter(controlPlane, 'nodes')} s after they joined, its pods ` +
      `${await readyAfter(controlPlane, `pods ${pods}`)} s after they were made`,
  );
}
