# ringbook on Node 24; docs/docker.md has how it is built and run. The image is named by digest (docs/decisions/0027): renew tag and
# digest together, with `docker buildx imagetools inspect`. The uWebSockets.js binary for Node 22 and later needs glibc 2.38: hence
# Debian 13 (trixie).
ARG NODE_IMAGE=node:24-trixie-slim@sha256:8ec5d7557396cfe32d21c3f9c13072355ceab22b584578ca4bb28af31120cffe

FROM ${NODE_IMAGE} AS build
WORKDIR /ringbook
COPY package.json package-lock.json ./
COPY packages packages
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY tsconfig.json ./
COPY src src
COPY workers workers
COPY schemas schemas
COPY packaging packaging
COPY config config
RUN npm run build
# Only what runs: no development packages, not the client's package, and of the native binaries those for this Node and CPU.
RUN npm prune --omit=dev --ignore-scripts --no-audit --no-fund && rm -rf node_modules/ringbook-client && node dist/src/cli/main.js slim

FROM ${NODE_IMAGE}
# The address of a container's own network; the program alone listens on 127.0.0.1.
ENV NODE_ENV=production RINGBOOK_CONFIG=production RINGBOOK_DATA_DIR=/data RINGBOOK_HOST=0.0.0.0
WORKDIR /ringbook
COPY --from=build /ringbook/package.json ./
COPY --from=build /ringbook/node_modules node_modules
COPY --from=build /ringbook/dist dist
COPY --from=build /ringbook/config config
COPY page page
COPY LICENSE ./
# Behind everything that takes long, and before a RUN: some builders take a later ENV out of their cache though its argument changed.
ARG COMMIT=unknown
RUN ln -s /ringbook/dist/src/cli/main.js /usr/local/bin/ringbook \
 && install -d -m 0700 -o node -g node /data
ENV RINGBOOK_COMMIT=${COMMIT}
LABEL org.opencontainers.image.title="ringbook" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.revision="${COMMIT}"
# The user `node`, as numbers: Kubernetes verifies with them that it is not root.
USER 1000:1000
VOLUME /data
EXPOSE 3032 8011 9464
STOPSIGNAL SIGTERM
# Recovery has no time limit; what fails before the end of the start period is not counted.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30m --retries=3 CMD ["ringbook", "ready"]
ENTRYPOINT ["ringbook"]
CMD ["start"]
