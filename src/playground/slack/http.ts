/** The little of HTTP that the front needs. */
import type {IncomingMessage, ServerResponse} from 'node:http';

const BODY_LIMIT_BYTES = 20 * 1024 * 1024;

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > BODY_LIMIT_BYTES) throw new Error('the body is larger than 20 MiB');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export function answerJson(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): void {
  if (response.destroyed || response.headersSent) return;
  response.writeHead(status, {'content-type': 'application/json; charset=utf-8', ...headers});
  response.end(JSON.stringify(value));
}

/** Arguments of a Web API call: JSON, or a form whose values may be JSON themselves, as Slack's own clients send them. */
export function argumentsOf(body: string, contentType: string, query: URLSearchParams): Record<string, unknown> {
  if (contentType.includes('application/json')) {
    const parsed: unknown = body === '' ? {} : JSON.parse(body);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed) ? {...parsed} : {};
  }
  const form = Object.fromEntries([...query, ...new URLSearchParams(body)]);
  return Object.fromEntries(
    Object.entries(form).map(([key, value]) => [key, JSON_ARGUMENTS.has(key) ? parsedOr(value) : value]),
  );
}

const JSON_ARGUMENTS = new Set(['blocks', 'attachments', 'view', 'metadata', 'files']);

function parsedOr(value: string): unknown {
  try {
    return JSON.parse(value) as unknown;
  } catch {
    return value;
  }
}
