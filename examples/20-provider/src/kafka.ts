import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { NotFound } from "@custard/provider";

// Stands for a service whose topics take a moment to be ready. It keeps them as files.

const folder = process.env["KAFKA_FOLDER"] ?? "/tmp/custard-example-topics";

interface Topic {
  readonly partitions: number;
  readonly asked: number;
}

export const kafka = {
  async create(id: string, { Partitions }: { Partitions: number }): Promise<void> {
    await save(id, { partitions: Partitions, asked: 0 });
  },
  /** It is ready when it is asked the second time. */
  async isReady(id: string): Promise<boolean> {
    const topic = await load(id);
    await save(id, { ...topic, asked: topic.asked + 1 });
    return topic.asked >= 1;
  },
  async describe(id: string): Promise<{ Arn: string; Endpoint: string; Partitions: number }> {
    const { partitions } = await load(id);
    return {
      Arn: `arn:example:kafka:::${id}`,
      Endpoint: `${id}.kafka.example.com:9092`,
      Partitions: partitions,
    };
  },
  async grow(id: string, partitions: number): Promise<void> {
    await save(id, { ...(await load(id)), partitions });
  },
  async remove(id: string): Promise<void> {
    await load(id);
    await rm(fileOf(id));
  },
};

async function save(id: string, topic: Topic): Promise<void> {
  await mkdir(folder, { recursive: true });
  await writeFile(fileOf(id), JSON.stringify(topic));
}

async function load(id: string): Promise<Topic> {
  const text = await readFile(fileOf(id), "utf8").catch(() => {
    throw new NotFound(`There is no topic ${id}`);
  });
  return JSON.parse(text) as Topic;
}

function fileOf(id: string): string {
  return join(folder, `${encodeURIComponent(id)}.json`);
}
