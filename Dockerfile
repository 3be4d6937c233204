# Two stages, the same make targets as on a laptop: build a wheel with the pages inside, install it.
FROM python:3.11-slim AS build
# Of make, which is used for the build only, the distribution's version is good enough.
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends make && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN make wheel && make install-wheel VENV=/opt/candor

FROM python:3.11-slim
# A number, so that a platform that asks for one can see that this is not root.
RUN useradd --uid 10001 --no-create-home candor && mkdir /data && chown candor /data
COPY --from=build /opt/candor /opt/candor
USER 10001
ENV PATH=/opt/candor/bin:$PATH CANDOR_DATA=/data CANDOR_HOST=0.0.0.0 HOME=/tmp PYTHONUNBUFFERED=1
VOLUME /data
EXPOSE 8000
# Whether it lives; whether newcomers may be sent here is asked at /readyz.
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/healthz', timeout=4)"]
ENTRYPOINT ["candor"]
CMD ["serve"]
